//! Where the show stands, read off the conversation. Stateless on purpose: an abort, a skipped
//! call or a second agent on the same provider cannot put it out of step.

use std::sync::Arc;

use crate::llm::message::{self, AssistantMessage, Message, StopReason};

pub(super) struct Position {
    /// How many replies of the sequence were given and carried out.
    pub given: usize,
    /// Whether the reply at `given` was given before and only its calls are still to be made.
    pub calls_only: bool,
    /// What the user wrote since the last response, all of it.
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
            // Notes of the program are not the user's words.
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
            .is_some_and(|result| {
                let text = message::content_text(&result.content);
                let cut = ["Skipped due to", "Execution cancelled", "Interrupted by"];
                result.is_error && cut.iter().any(|words| text.starts_with(words))
            })
    })
}
