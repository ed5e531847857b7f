//! The conversation from the end of what was said before the last run, and what is left to answer in
//! it. Its iterations are a view
//! of the session (`session::Iteration`); limits are with whoever asks (A12).

use std::collections::HashMap;
use std::sync::Arc;

use crate::agent::session::end_of;
use crate::llm::{Content, Message, StopReason, ToolResultMessage};

/// What happened so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    messages: Vec<Arc<Message>>,
}

impl Context {
    /// A conversation that goes on from `end`.
    pub fn ending_with(end: &[Arc<Message>]) -> Self {
        let messages = end.to_vec();
        Self { messages }
    }

    /// Appends a message.
    pub fn push(&mut self, message: Arc<Message>) {
        self.messages.push(message);
    }

    /// Lets go of all but the end of the conversation: it stands in the session.
    pub fn keep_end(&mut self) {
        self.messages = self.end().to_vec();
    }

    /// The end of the conversation: what comes next depends on nothing before it.
    pub fn end(&self) -> &[Arc<Message>] {
        &self.messages[end_of(&self.messages)..]
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

    /// The messages that are held, in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Whether a model has something to answer: the last word is the user's or a tool's, the last call
    /// failed, or its calls have no results, because the program ended.
    pub fn awaits_model(&self) -> bool {
        match self.messages.last().map(AsRef::as_ref) {
            None => false,
            Some(Message::User(_) | Message::ToolResult(_)) => true,
            Some(Message::Assistant(message)) => {
                message.stop_reason == StopReason::Error || message.tool_calls().next().is_some()
            }
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
    use crate::llm::{AssistantMessage, ToolCall};

    #[test]
    fn calls_without_result_are_found() {
        let call = |id: &str| {
            Content::ToolCall(ToolCall {
                id: id.into(),
                ..ToolCall::default()
            })
        };
        let mut context = Context::default();
        context.push(Arc::new(Message::user("hi", 0)));
        assert!(context.missing_results(1).is_empty());
        context.push(Arc::new(Message::Assistant(AssistantMessage {
            content: vec![call("a"), call("b")],
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        })));
        let missing = context.missing_results(1);
        assert_eq!(missing.len(), 2);
        context.push(Arc::clone(&missing[0]));
        let missing = context.missing_results(1);
        assert!(matches!(&*missing[0], Message::ToolResult(m) if m.tool_call_id == "b"));
        assert!(context.awaits_model());
        context.push(Arc::clone(&missing[0]));
        assert!(context.missing_results(1).is_empty());
    }
}
