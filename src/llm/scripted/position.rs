//! The position in the script, read from the conversation. Stateless on purpose: an abort, a skipped
//! call or a second agent on the same provider can't get it out of step.

use std::sync::Arc;

use crate::message::{self, AssistantMessage, Message, StopReason};

pub(super) struct Position {
    /// How many replies of the sequence are complete, calls included.
    pub given: usize,
    /// Whether the reply at `given` has been sent, and only its calls are missing.
    pub calls_only: bool,
    /// Everything the user wrote since the last response.
    pub unanswered: Option<String>,
}

/// Reads the position from a conversation; `prompt` is the message that starts the show.
pub(super) fn position(messages: &[Arc<Message>], prompt: &str) -> Position {
    let mut given = 0;
    let mut calls_only = false;
    let mut unanswered: Option<String> = None;
    for (at, message) in messages.iter().enumerate() {
        match &**message {
            Message::Assistant(reply) => {
                unanswered = None;
                if complete(reply) {
                    calls_only = skipped(reply, &messages[at + 1..]);
                    given += usize::from(!calls_only);
                }
            }
            // The program's notes aren't the user's words.
            Message::User(user) if user.origin.is_some() => {}
            Message::User(_) => {
                let text = message.text();
                if text.trim() != prompt.trim() {
                    let all = unanswered.get_or_insert_default();
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
        unanswered,
    }
}

fn complete(reply: &AssistantMessage) -> bool {
    matches!(reply.stop_reason, StopReason::Stop | StopReason::ToolUse)
}

/// Whether a call of `reply` never ran, or was stopped. Such results fail and have no duration, or say
/// that they were cut.
fn skipped(reply: &AssistantMessage, after: &[Arc<Message>]) -> bool {
    reply.tool_calls().any(|call| {
        after
            .iter()
            .find_map(|message| match &**message {
                Message::ToolResult(result) if result.tool_call_id == call.id => Some(result),
                _ => None,
            })
            .is_some_and(|result| {
                let text = message::content_text(&result.content);
                let cut = ["Skipped due to", "Execution cancelled", "Interrupted by"];
                result.is_error && cut.iter().any(|words| text.starts_with(words))
            })
    })
}
