//! Where the show stands, read off the conversation. Stateless on purpose: an abort, a skipped
//! call or a second agent on the same provider cannot put it out of step.

use std::sync::Arc;

use super::super::message::{AssistantMessage, Message, StopReason, ToolResultMessage};

/// What the next response has to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// How many replies of the sequence were given and carried out.
    pub given: usize,
    /// Whether the reply at `given` was said before and only its calls are still to be made.
    pub calls_only: bool,
    /// What the user wrote since the last response, all of it.
    pub said: Option<String>,
}

/// Reads the position from a conversation; `prompt` is the message that starts the show.
pub(super) fn position(messages: &[Arc<Message>], prompt: &str) -> Position {
    let mut given = 0;
    let mut calls_only = false;
    let mut said: Option<String> = None;
    for (at, message) in messages.iter().enumerate() {
        match &**message {
            Message::Assistant(reply) => {
                said = None;
                if complete(reply) {
                    calls_only = skipped(reply, &messages[at + 1..]);
                    given += usize::from(!calls_only);
                }
            }
            Message::User(_) => {
                let text = message.text();
                if text.trim() != prompt.trim() {
                    let all = said.get_or_insert_default();
                    if !all.is_empty() {
                        all.push('\n');
                    }
                    all.push_str(&text);
                }
            }
            Message::ToolResult(_) => {}
        }
    }
    Position {
        given,
        calls_only,
        said,
    }
}

fn complete(reply: &AssistantMessage) -> bool {
    matches!(reply.stop_reason, StopReason::Stop | StopReason::ToolUse)
}

/// Whether a call of `reply` was never run, or stopped while it ran: such results fail and carry
/// no duration, or say that they were cut.
fn skipped(reply: &AssistantMessage, after: &[Arc<Message>]) -> bool {
    reply.tool_calls().any(|call| {
        after
            .iter()
            .find_map(|message| match &**message {
                Message::ToolResult(result) if result.tool_call_id == call.id => Some(result),
                _ => None,
            })
            .is_some_and(was_cut)
    })
}

fn was_cut(result: &ToolResultMessage) -> bool {
    const CUT: [&str; 3] = ["Skipped due to", "Execution cancelled", "Interrupted by"];
    let text = super::super::message::content_text(&result.content);
    result.is_error && CUT.iter().any(|words| text.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::super::super::message::{Content, ToolCall};
    use super::*;

    fn user(text: &str) -> Arc<Message> {
        Arc::new(Message::user(text, 0))
    }

    fn assistant(call: Option<&str>, stop_reason: StopReason) -> Arc<Message> {
        let content = call.map(|id| {
            Content::ToolCall(ToolCall {
                id: id.to_owned(),
                ..ToolCall::default()
            })
        });
        Arc::new(Message::Assistant(AssistantMessage {
            content: content.into_iter().collect(),
            stop_reason,
            ..AssistantMessage::default()
        }))
    }

    fn result(id: &str, text: &str, is_error: bool) -> Arc<Message> {
        Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: id.to_owned(),
            tool_name: "t".to_owned(),
            content: vec![Content::text(text)],
            details: None,
            is_error,
            duration_ms: None,
            timestamp: 0,
        }))
    }

    #[track_caller]
    fn check(messages: &[Arc<Message>], given: usize, calls_only: bool, said: Option<&str>) {
        let expected = Position {
            given,
            calls_only,
            said: said.map(str::to_owned),
        };
        assert_eq!(position(messages, "go"), expected);
    }

    #[test]
    fn it_follows_the_conversation() {
        use StopReason::{Aborted, Error, Stop, ToolUse};
        check(&[user("go")], 0, false, None);
        check(&[user("hello")], 0, false, Some("hello"));
        let called = [
            user("go"),
            assistant(Some("a"), ToolUse),
            result("a", "1", false),
        ];
        check(&called, 1, false, None);
        let mut steered = called.to_vec();
        steered.extend([user("wait"), user("stop")]);
        check(&steered, 1, false, Some("wait\nstop"));
        steered.push(assistant(None, Stop));
        check(&steered, 2, false, None);
        // A failed command is part of the show; a response that was cut is not.
        check(
            &[
                user("go"),
                assistant(Some("a"), ToolUse),
                result("a", "[exit code 1]", true),
            ],
            1,
            false,
            None,
        );
        check(
            &[user("go"), assistant(None, Aborted), user("again")],
            0,
            false,
            Some("again"),
        );
        check(&[user("go"), assistant(None, Error)], 0, false, None);
    }

    #[test]
    fn a_skipped_call_is_made_again() {
        for text in [
            "Skipped due to user message.",
            "Execution cancelled",
            "Execution cancelled before start",
            "Interrupted by user message",
        ] {
            let messages = [
                user("go"),
                assistant(Some("a"), StopReason::ToolUse),
                result("a", text, true),
                user("hey"),
            ];
            check(&messages, 0, true, Some("hey"));
        }
    }
}
