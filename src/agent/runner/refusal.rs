//! After a refusal, leaves what was refused out of later requests: a model that refuses one prompt
//! refuses every conversation that contains it. The edits are stored, so a reopened session sends the
//! same. <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>

use std::sync::Arc;

use super::link::{RunLink, Step, Turn};
use crate::event::is_from_user;
use crate::memory::compaction::Pruned;
use tiller_llm::{Content, LlmError, Message};

/// Replaces the results that a model refused to continue with.
const LEFT_OUT: &str = "[result left out: the model refused to continue with it]";
const TOLD: &str = "tiller leaves what it refused out of later requests";

/// Returns `error`, which ends the run of `turn`. If a model `refused` a conversation with this many
/// messages (not necessarily the model that failed last), leaves out what it refused from now on and adds
/// that to the error.
pub(super) async fn settle(
    link: &RunLink,
    turn: &Turn,
    mut error: LlmError,
    refused: Option<usize>,
) -> LlmError {
    if let Some(refused) = refused {
        let said = unanswered(&turn.messages[..refused.min(turn.messages.len())]);
        if !said.is_empty() && link.next_turn(Step::Prune(said)).await.is_ok() {
            error.message = format!("{}\n{TOLD}", error.message);
        }
    }
    error
}

/// Returns the parts of `messages` that no answer followed; the model accepted the rest. The last
/// comes first, so that no thinking ever follows a removed part.
fn unanswered(messages: &[Arc<Message>]) -> Vec<Pruned> {
    let since_answer = messages.iter().enumerate().rev();
    let new = since_answer
        .take_while(|(_, message)| !matches!(&***message, Message::Assistant(it) if it.is_sent()));
    let pruned = new.filter_map(|(at, message)| {
        let content = match &**message {
            Message::User(user) if is_from_user(user.origin.as_deref()) => None,
            Message::ToolResult(_) => Some(vec![Content::text(LEFT_OUT)]),
            // tiller's own messages, and answers that are never sent.
            Message::User(_) | Message::Assistant(_) => return None,
        };
        Some(Pruned { at, content })
    });
    pruned.collect()
}
