//! The end of the conversation: the last user message or tool calls with what followed, and which calls
//! still need a result. The session holds everything earlier. Its iterations are a view of the session
//! (`session::Iteration`); callers check limits (A12).

use std::sync::Arc;

use crate::session::{begins_end, is_unanswered};
use tiller_llm::{Message, StopReason, ToolCall};

#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    messages: Vec<Arc<Message>>,
}

impl Context {
    pub fn ending_with(end: &[Arc<Message>]) -> Self {
        let messages = end.to_vec();
        Self { messages }
    }

    /// Appends a message. Drops earlier messages that the next step doesn't depend on.
    pub fn push(&mut self, message: Arc<Message>) {
        if begins_end(&message) {
            self.messages.clear();
        }
        self.messages.push(message);
    }

    pub fn end(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub fn awaits_model(&self) -> bool {
        is_unanswered(&self.messages)
    }

    /// Returns the calls of the last answer without a result, in call order, if only results follow
    /// the answer. They were open when the program ended or a run died.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
        let last = self.messages.iter().rposition(|it| !is_result(it));
        let Some(Message::Assistant(answer)) = last.map(|at| &*self.messages[at]) else {
            return Vec::new();
        };
        if answer.stop_reason == StopReason::Error {
            return Vec::new();
        }
        let results = self.messages.iter().skip(last.unwrap_or(0) + 1);
        let mut answered: Vec<&str> = results
            .filter_map(|message| match &**message {
                Message::ToolResult(result) => Some(result.tool_call_id.as_str()),
                _ => None,
            })
            .collect();
        let mut calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
        // Two calls may have the same id.
        calls.retain(|call| match answered.iter().position(|id| *id == call.id) {
            Some(at) => {
                answered.swap_remove(at);
                false
            }
            None => true,
        });
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiller_llm::{AssistantMessage, Content, ToolResultMessage};

    #[test]
    fn calls_without_a_result_are_found_by_id() {
        let call = |id: &str| {
            Content::ToolCall(ToolCall {
                id: id.into(),
                ..ToolCall::default()
            })
        };
        let result = |id: &str| {
            Arc::new(Message::ToolResult(ToolResultMessage {
                tool_call_id: id.into(),
                ..ToolResultMessage::default()
            }))
        };
        let open = |context: &Context| {
            let calls = context.open_calls().into_iter();
            calls.map(|call| call.id).collect::<Vec<_>>()
        };
        let mut context = Context::default();
        context.push(Arc::new(Message::user("hi", 0)));
        assert!(open(&context).is_empty());
        context.push(Arc::new(Message::Assistant(AssistantMessage {
            content: ["a", "b", "c", "b"].map(call).into(),
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        })));
        assert_eq!(open(&context), ["a", "b", "c", "b"]);
        for (ended, left) in [
            ("c", &["a", "b", "b"][..]),
            ("b", &["a", "b"]),
            ("a", &["b"]),
        ] {
            context.push(result(ended));
            assert_eq!(open(&context), left);
        }
        assert!(context.awaits_model());
        // Calls that were sent without a result stay without one.
        context.push(Arc::new(Message::user("on", 0)));
        assert!(open(&context).is_empty());
    }
}
