//! What is known of a conversation that nobody goes on with yet: what it took and how it ends. Holds
//! no message but the last, so a long past costs nothing until a run reads it.

use std::sync::Arc;

use crate::agent::event::is_from_user;
use crate::agent::memory::NOTE_ORIGIN;
use crate::agent::session_work::SessionWork;
use crate::llm::{Message, StopReason, Usage};

/// A conversation without its messages.
#[derive(Clone, Debug, Default)]
pub struct HistoryFacts {
    /// How many messages a model reads.
    pub count: usize,
    /// What the session took, on all its branches.
    pub usage: Usage,
    /// Tokens in the window at the last answer or compaction that says so.
    pub context_tokens: u64,
    /// Its end: the last message of the user or call of tools, and what came of it.
    pub last: Vec<Arc<Message>>,
    /// What there is to see of the work; of before its last compaction what that carries over.
    pub work: SessionWork,
    /// Entries on the path that could not be read.
    pub damaged: usize,
    /// Whether the user stopped the run that its end is from.
    pub stopped: bool,
}

impl HistoryFacts {
    /// The facts of a session of these messages.
    pub fn of(messages: &[Arc<Message>]) -> Self {
        let mut facts = Self::default();
        for message in messages {
            if let Message::Assistant(answer) = &**message {
                facts.usage.add(&answer.usage);
            }
            facts.work.note_message(message);
        }
        facts.count(messages);
        facts.last = messages[end_of(messages)..].to_vec();
        facts
    }

    /// Takes in that `message` is its last one.
    pub(in crate::agent) fn note_said(&mut self, message: &Message) {
        self.stopped &= is_told(message);
    }

    /// Whether the conversation was cut off: a model has something to answer, and it was not the user
    /// who stopped it.
    pub fn is_cut_off(&self) -> bool {
        !self.stopped && is_unanswered(&self.last)
    }

    /// Whether a failure stands at its end.
    pub fn has_failed(&self) -> bool {
        is_failure(&self.last)
    }

    /// The same but for how it ends.
    pub(in crate::agent) fn without_end(self) -> Self {
        let last = Vec::new();
        Self { last, ..self }
    }

    /// Counts `messages` in, but for what they took.
    pub(in crate::agent) fn count(&mut self, messages: &[Arc<Message>]) {
        self.count += messages.len();
        for message in messages {
            if let Message::Assistant(answer) = &**message {
                let whole = !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
                if whole && answer.usage.context_tokens() > 0 {
                    self.context_tokens = answer.usage.context_tokens();
                }
            }
        }
    }
}

/// Whether what comes next depends on nothing before `message`.
pub(in crate::agent) fn begins_end(message: &Message) -> bool {
    match message {
        Message::User(user) => is_from_user(user.origin.as_deref()),
        Message::Assistant(answer) => {
            answer.stop_reason == StopReason::ToolUse && answer.tool_calls().next().is_some()
        }
        Message::ToolResult(_) => false,
    }
}

/// Whether the program tells the model with it what has changed; it asks for no answer.
fn is_told(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.as_deref() == Some(NOTE_ORIGIN))
}

/// Whether `messages` end in an answer that failed.
pub(super) fn is_failure(messages: &[Arc<Message>]) -> bool {
    let last = messages.last().map(AsRef::as_ref);
    matches!(last, Some(Message::Assistant(answer)) if !answer.is_sent())
}

/// Whether a model has something to answer at the end of `messages`: words of the user, results, calls
/// without results because the program ended, or what a failed call left.
pub(in crate::agent) fn is_unanswered(messages: &[Arc<Message>]) -> bool {
    let says_something = |message: &&Arc<Message>| match &***message {
        Message::User(user) => is_from_user(user.origin.as_deref()),
        // It is never sent: what it was to answer stands before it, unless that was left out.
        Message::Assistant(answer) => answer.is_sent(),
        Message::ToolResult(_) => true,
    };
    match messages
        .iter()
        .rev()
        .find(says_something)
        .map(AsRef::as_ref)
    {
        None => false,
        Some(Message::User(_) | Message::ToolResult(_)) => true,
        Some(Message::Assistant(answer)) => answer.tool_calls().next().is_some(),
    }
}

/// Where the end of these messages begins: what comes next depends on nothing before it.
pub(in crate::agent) fn end_of(messages: &[Arc<Message>]) -> usize {
    let begins = |message: &Arc<Message>| begins_end(message);
    messages.iter().rposition(begins).unwrap_or(0)
}
