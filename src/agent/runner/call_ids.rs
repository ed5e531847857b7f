//! Gives every tool call of a conversation an id of its own, before anyone sees it. Some servers
//! count from zero in each answer, or send one id twice: results, cells on the screen and records
//! would be taken for each other. What a wire allows in an id is that wire's business.

use std::collections::HashSet;
use std::sync::Arc;

use crate::llm::{Message, StreamEvent};

/// The ids that are taken, while one answer comes in.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    before: &'a [Arc<Message>],
    /// Filled when the first call comes: most answers have none.
    taken: Option<HashSet<String>>,
}

impl<'a> CallIds<'a> {
    /// For the answer to this conversation.
    pub fn new(before: &'a [Arc<Message>]) -> Self {
        Self {
            before,
            taken: None,
        }
    }

    /// Changes the id of a call that begins, should another call have it already.
    pub fn settle(&mut self, event: &mut StreamEvent) {
        let StreamEvent::ToolCallStart { id, .. } = event else {
            return;
        };
        let taken = self.taken.get_or_insert_with(|| ids(self.before));
        let stem = if id.is_empty() { "call" } else { id.as_str() };
        let mut own = stem.to_owned();
        let mut n = 2;
        while taken.contains(&own) {
            own = format!("{stem}-{n}");
            n += 1;
        }
        taken.insert(own.clone());
        *id = own;
    }
}

fn ids(messages: &[Arc<Message>]) -> HashSet<String> {
    let answers = messages.iter().filter_map(|message| match &**message {
        Message::Assistant(message) => Some(message),
        _ => None,
    });
    answers
        .flat_map(|message| message.tool_calls().map(|call| call.id.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{AssistantMessage, Content, ToolCall};

    #[test]
    fn no_two_calls_share_an_id() {
        let call = |id: &str| {
            Content::ToolCall(ToolCall {
                id: id.to_owned(),
                ..ToolCall::default()
            })
        };
        let before = [Arc::new(Message::Assistant(AssistantMessage {
            content: vec![call("a"), call("b-2")],
            ..AssistantMessage::default()
        }))];
        let mut ids = CallIds::new(&before);
        for (sent, own) in [
            ("a", "a-2"),
            ("a", "a-3"),
            ("b", "b"),
            ("b", "b-3"),
            ("c", "c"),
            ("", "call"),
            ("", "call-2"),
        ] {
            let mut event = StreamEvent::ToolCallStart {
                index: 0,
                id: sent.to_owned(),
                name: String::new(),
                custom: false,
            };
            ids.settle(&mut event);
            assert!(
                matches!(&event, StreamEvent::ToolCallStart { id, .. } if id == own),
                "{sent}: {event:?}"
            );
        }
    }
}
