//! The conversation as nested iterations: one model call with what led to it and the tool results
//! that came of it. The messages are held once, flat; an iteration is a view of a stretch of them.
//! Holds no limit: whoever asks brings it (A12).

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::llm::{AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage};

/// What happened so far.
#[derive(Clone, Debug)]
pub struct Context {
    system: Option<String>,
    messages: Vec<Arc<Message>>,
    bounds: Vec<Bounds>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Where an iteration begins, and what is known of it besides its messages.
#[derive(Clone, Debug)]
struct Bounds {
    start: usize,
    started_at: Timestamp,
    completed_at: Option<Timestamp>,
    metadata: Map<String, Value>,
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
    /// Whatever else is known of it.
    pub metadata: &'a Map<String, Value>,
    system: Option<&'a str>,
}

impl Default for Context {
    fn default() -> Self {
        let now = Timestamp::now();
        Self {
            system: None,
            messages: Vec::new(),
            bounds: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl Context {
    /// A conversation whose first iteration holds the system prompt, if any, and the input.
    pub fn new(input: impl Into<String>, system_prompt: Option<String>) -> Self {
        let mut context = Self {
            system: system_prompt,
            ..Self::default()
        };
        context.begin_iteration();
        let timestamp = context.created_at.as_millisecond();
        context.push(Arc::new(Message::user(input, timestamp)));
        context
    }

    /// Appends a model's answer to the current iteration.
    pub fn add_assistant_message(&mut self, content: Vec<Content>, tool_calls: Vec<ToolCall>) {
        let stop_reason = match tool_calls.is_empty() {
            true => StopReason::Stop,
            false => StopReason::ToolUse,
        };
        let calls = tool_calls.into_iter().map(Content::ToolCall);
        self.push(Arc::new(Message::Assistant(AssistantMessage {
            content: content.into_iter().chain(calls).collect(),
            stop_reason,
            timestamp: Timestamp::now().as_millisecond(),
            ..AssistantMessage::default()
        })));
    }

    /// Appends the results of the current iteration's calls, completes it and opens the next.
    pub fn add_tool_results(&mut self, results: Vec<ToolResultMessage>) {
        for result in results {
            self.push(Arc::new(Message::ToolResult(result)));
        }
        self.complete_iteration();
        self.begin_iteration();
    }

    /// Appends a message to the current iteration; the first one opens it.
    pub fn push(&mut self, message: Arc<Message>) {
        if self.bounds.is_empty() {
            self.begin_iteration();
        }
        self.messages.push(message);
        self.updated_at = Timestamp::now();
    }

    /// Opens the next iteration and returns its number. One that is still empty is used instead.
    pub fn begin_iteration(&mut self) -> u32 {
        let start = self.messages.len();
        let fresh = |bounds: &Bounds| bounds.completed_at.is_none() && bounds.start == start;
        if !self.bounds.last().is_some_and(fresh) {
            self.complete_iteration();
            let now = Timestamp::now();
            self.bounds.push(Bounds {
                start,
                started_at: now,
                completed_at: None,
                metadata: Map::new(),
            });
            self.updated_at = now;
        }
        self.current_iteration()
    }

    /// Completes the current iteration, unless it is complete.
    pub fn complete_iteration(&mut self) {
        if let Some(bounds) = self.bounds.last_mut()
            && bounds.completed_at.is_none()
        {
            // Clocks may step back; an iteration never ends before it began.
            let now = Timestamp::now().max(bounds.started_at);
            bounds.completed_at = Some(now);
            self.updated_at = now;
        }
    }

    /// Number of the current iteration; 0 before there is one.
    pub fn current_iteration(&self) -> u32 {
        self.bounds.len() as u32
    }

    /// All messages, in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The iterations, in order.
    pub fn iterations(&self) -> impl ExactSizeIterator<Item = Iteration<'_>> {
        (0..self.bounds.len()).map(|index| self.view(index))
    }

    /// Iteration `n`, from 1.
    pub fn iteration(&self, n: u32) -> Option<Iteration<'_>> {
        let index = (n as usize).checked_sub(1)?;
        (index < self.bounds.len()).then(|| self.view(index))
    }

    /// The messages of iteration `n`; none for an unknown one.
    pub fn iteration_messages(&self, n: u32) -> &[Arc<Message>] {
        self.iteration(n)
            .map_or(&[], |iteration| iteration.messages)
    }

    /// What else is known of the current iteration, to add to.
    pub fn metadata_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.bounds.last_mut().map(|bounds| &mut bounds.metadata)
    }

    /// The calls of the current iteration's last message.
    pub fn extract_tool_calls(&self) -> Vec<ToolCall> {
        let current = self.iteration_messages(self.current_iteration());
        match current.last().map(AsRef::as_ref) {
            Some(Message::Assistant(message)) => message.tool_calls().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a model has something to answer: the last word is a person's or a tool's, or the
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
    pub(super) fn missing_results(&self, timestamp: i64) -> Vec<Arc<Message>> {
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

    fn view(&self, index: usize) -> Iteration<'_> {
        let bounds = &self.bounds[index];
        let next = self.bounds.get(index + 1);
        let end = next.map_or(self.messages.len(), |next| next.start);
        Iteration {
            number: index as u32 + 1,
            messages: &self.messages[bounds.start..end],
            started_at: bounds.started_at,
            completed_at: bounds.completed_at,
            metadata: &bounds.metadata,
            system: if index == 0 {
                self.system.as_deref()
            } else {
                None
            },
        }
    }
}

/// Whether `context` has used up `max` iterations.
pub fn exceeded_max_iterations(context: &Context, max: u32) -> bool {
    context.current_iteration() >= max
}

/// What a person reads when the limit is reached.
pub fn limit_text(limit: u32) -> String {
    format!("Max iterations ({limit}) exceeded")
}
