//! The conversation, held once and flat. An iteration is a view of a stretch of it: one model call
//! with what led to it and the tool results that came of it. Holds no limit: whoever asks brings it
//! (A12).

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::llm::{Content, Message, StopReason, ToolCall, ToolResultMessage};

/// What happened so far.
#[derive(Clone, Debug, Default)]
pub struct Context {
    messages: Vec<Arc<Message>>,
    bounds: Vec<Bounds>,
}

/// Where an iteration begins, and when.
#[derive(Clone, Debug)]
struct Bounds {
    start: usize,
    started_at: Timestamp,
    completed_at: Option<Timestamp>,
}

/// One iteration: a view.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a> {
    /// From 1.
    pub number: u32,
    /// Its messages, in order.
    pub messages: &'a [Arc<Message>],
    /// When it began (UTC).
    pub started_at: Timestamp,
    /// When it ended (UTC); none while it runs.
    pub completed_at: Option<Timestamp>,
}

impl<'a> Iteration<'a> {
    /// The tool calls made in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &'a ToolCall> + use<'a> {
        let answers = self.messages.iter().filter_map(|message| match &**message {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        });
        answers.flat_map(crate::llm::AssistantMessage::tool_calls)
    }
}

impl Context {
    /// Appends a message to the current iteration; the first one opens it.
    pub fn push(&mut self, message: Arc<Message>) {
        if self.bounds.is_empty() {
            self.begin_iteration();
        }
        self.messages.push(message);
    }

    /// Opens the next iteration and returns its number. One that is still empty is used instead.
    pub fn begin_iteration(&mut self) -> u32 {
        let start = self.messages.len();
        let fresh = |bounds: &Bounds| bounds.completed_at.is_none() && bounds.start == start;
        if !self.bounds.last().is_some_and(fresh) {
            self.complete_iteration();
            self.bounds.push(Bounds {
                start,
                started_at: Timestamp::now(),
                completed_at: None,
            });
        }
        self.bounds.len() as u32
    }

    /// Completes the current iteration, unless it is complete.
    pub fn complete_iteration(&mut self) {
        if let Some(bounds) = self.bounds.last_mut()
            && bounds.completed_at.is_none()
        {
            // Clocks may step back; an iteration never ends before it began.
            bounds.completed_at = Some(Timestamp::now().max(bounds.started_at));
        }
    }

    /// Lets go of the details of results from the message `from` on, which the screen reads from the
    /// file; gives the messages without them, by those that had them.
    pub fn forget_details(&mut self, from: usize) -> HashMap<*const Message, Arc<Message>> {
        let mut slim = HashMap::new();
        for message in self.messages.iter_mut().skip(from) {
            if let Message::ToolResult(result) = &**message
                && result.details.is_some()
            {
                let without = Arc::new(Message::ToolResult(ToolResultMessage {
                    details: None,
                    ..result.clone()
                }));
                let with = std::mem::replace(message, Arc::clone(&without));
                slim.insert(Arc::as_ptr(&with), without);
            }
        }
        slim
    }

    /// All messages, in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The iterations, in order.
    pub fn iterations(&self) -> impl ExactSizeIterator<Item = Iteration<'_>> {
        (0..self.bounds.len()).map(|index| {
            let bounds = &self.bounds[index];
            let next = self.bounds.get(index + 1);
            let end = next.map_or(self.messages.len(), |next| next.start);
            Iteration {
                number: index as u32 + 1,
                messages: &self.messages[bounds.start..end],
                started_at: bounds.started_at,
                completed_at: bounds.completed_at,
            }
        })
    }

    /// Whether a model has something to answer: the last word is the user's or a tool's, or the
    /// last call failed.
    pub fn awaits_model(&self) -> bool {
        match self.messages.last().map(AsRef::as_ref) {
            None => false,
            Some(Message::User(_) | Message::ToolResult(_)) => true,
            Some(Message::Assistant(message)) => message.stop_reason == StopReason::Error,
        }
    }

    /// Error results for calls of the last answer that have none, in call order: what is left to
    /// do when a run died under them.
    pub fn missing_results(&self, timestamp: i64) -> Vec<Arc<Message>> {
        let is_answer = |message: &Arc<Message>| matches!(**message, Message::Assistant(_));
        let Some(last) = self.messages.iter().rposition(is_answer) else {
            return Vec::new();
        };
        let Message::Assistant(answer) = &*self.messages[last] else {
            return Vec::new();
        };
        if answer.stop_reason == StopReason::Error {
            return Vec::new();
        }
        let answered = self.messages[last..]
            .iter()
            .filter(|m| matches!(***m, Message::ToolResult(_)));
        answer
            .tool_calls()
            .skip(answered.count())
            .map(|call| {
                Arc::new(Message::ToolResult(ToolResultMessage {
                    tool_call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    content: vec![Content::text("Execution cancelled")],
                    details: None,
                    is_error: true,
                    duration_ms: None,
                    timestamp,
                }))
            })
            .collect()
    }
}
