//! The conversation, held once and flat. An iteration is a view of a stretch of it: one model call
//! with what led to it and the tool results that came of it. Holds no limit: whoever asks brings it
//! (A12).

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::AssistantMessage;

    fn answer(calls: &[&str]) -> Arc<Message> {
        let call = |id: &&str| {
            Content::ToolCall(ToolCall {
                id: (*id).into(),
                ..ToolCall::default()
            })
        };
        Arc::new(Message::Assistant(AssistantMessage {
            content: calls.iter().map(call).collect(),
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        }))
    }

    fn user() -> Arc<Message> {
        Arc::new(Message::user("hi", 0))
    }

    // B3, B7, B12
    #[test]
    fn iterations_are_views_with_their_calls_and_times() {
        let mut context = Context::default();
        assert_eq!(context.iterations().len(), 0);
        context.push(user());
        assert_eq!(
            context.begin_iteration(),
            2,
            "a new one: the first is not empty"
        );
        context.push(answer(&["a", "b"]));
        assert_eq!(context.begin_iteration(), 3);
        assert_eq!(context.begin_iteration(), 3, "the empty one is used");
        let views: Vec<_> = context.iterations().collect();
        let calls: Vec<_> = views[1].tool_calls().map(|call| call.id.as_str()).collect();
        assert_eq!(calls, ["a", "b"]);
        assert_eq!(
            views.iter().map(|it| it.number).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert!(views[1].completed_at >= Some(views[1].started_at));
        assert_eq!(views[2].completed_at, None);
        assert!(views[2].messages.is_empty());
    }

    #[test]
    fn calls_without_result_are_found() {
        let mut context = Context::default();
        context.push(user());
        assert!(context.missing_results(1).is_empty());
        context.push(answer(&["a", "b"]));
        let missing = context.missing_results(1);
        assert_eq!(missing.len(), 2);
        context.push(Arc::clone(&missing[0]));
        let missing = context.missing_results(1);
        assert!(matches!(&*missing[0], Message::ToolResult(m) if m.tool_call_id == "b"));
        assert!(context.awaits_model());
        context.push(Arc::clone(&missing[0]));
        assert!(context.missing_results(1).is_empty());
    }

    proptest::proptest! {
        // B9
        #[test]
        fn any_conversation_is_the_sum_of_its_iterations(steps in proptest::collection::vec(0u8..3, 0..40)) {
            let mut context = Context::default();
            for step in steps {
                match step {
                    0 => context.push(user()),
                    1 => { context.begin_iteration(); }
                    _ => context.complete_iteration(),
                }
            }
            let joined: Vec<_> = context.iterations().flat_map(|i| i.messages.to_vec()).collect();
            proptest::prop_assert_eq!(joined, context.messages());
            // B7, B12: only the last may still be open, and none ends before it began.
            let ended = context.iterations().filter(|i| i.completed_at.is_some_and(|end| end >= i.started_at));
            proptest::prop_assert!(ended.count() + 1 >= context.iterations().len());
        }
    }
}
