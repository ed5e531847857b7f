//! Facts about a conversation before a run loads it: usage, and how it ends. Keeps only the last
//! messages, so a long past costs nothing.

use std::sync::Arc;

use crate::event::is_from_user;
use crate::memory::NOTE_ORIGIN;
use crate::session_work::SessionWork;
use tiller_llm::{Message, StopReason, Usage};

/// A conversation without its messages.
#[derive(Clone, Debug, Default)]
pub struct HistoryFacts {
    /// Number of messages for the model.
    pub count: usize,
    /// Usage of all branches.
    pub usage: Usage,
    /// Tokens in the window at the last answer or compaction that reports them.
    pub context_tokens: u64,
    /// The last user message or tool call, with everything after it.
    pub last: Vec<Arc<Message>>,
    /// Visible facts about the work, including those that the last compaction preserved.
    pub work: SessionWork,
    /// Number of unreadable entries on the path.
    pub damaged: usize,
    /// Whether the user stopped its last run.
    pub stopped: bool,
}

impl HistoryFacts {
    /// The facts of a session with these messages.
    pub fn of(messages: &[Arc<Message>]) -> Self {
        let mut facts = Self::default();
        for message in messages {
            if let Message::Assistant(answer) = &**message {
                facts.usage.add(&answer.usage);
            }
            facts.add(message);
        }
        facts
    }

    /// Adds `message` as the last one, but not its usage. Drops earlier messages that what comes
    /// next doesn't depend on.
    pub(crate) fn add(&mut self, message: &Arc<Message>) {
        self.note_said(message);
        self.work.note_message(message);
        self.count(std::slice::from_ref(message));
        if begins_end(message) {
            self.last.clear();
        }
        self.last.push(Arc::clone(message));
    }

    pub(super) fn note_said(&mut self, message: &Message) {
        self.stopped &= is_told(message);
    }

    /// True if the conversation was cut off: a model owes an answer, and the user didn't stop it.
    pub fn is_cut_off(&self) -> bool {
        !self.stopped && self.awaits_model()
    }

    /// True if a model owes an answer.
    pub(crate) fn awaits_model(&self) -> bool {
        is_unanswered(&self.last)
    }

    /// True if it ends in a failure.
    pub fn has_failed(&self) -> bool {
        is_failure(&self.last)
    }

    /// Counts `messages`, but not their usage.
    pub(super) fn count(&mut self, messages: &[Arc<Message>]) {
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

/// True if nothing before `message` affects what comes next.
pub(super) fn begins_end(message: &Message) -> bool {
    match message {
        Message::User(user) => is_from_user(user.origin.as_deref()),
        Message::Assistant(answer) => {
            answer.stop_reason == StopReason::ToolUse && answer.tool_calls().next().is_some()
        }
        Message::ToolResult(_) => false,
    }
}

/// True if it is tiller's note about changes, which needs no answer.
fn is_told(message: &Message) -> bool {
    matches!(message, Message::User(user) if user.origin.as_deref() == Some(NOTE_ORIGIN))
}

/// True if `messages` end in a failed answer.
pub(super) fn is_failure(messages: &[Arc<Message>]) -> bool {
    let last = messages.last().map(AsRef::as_ref);
    matches!(last, Some(Message::Assistant(answer)) if !answer.is_sent())
}

/// True if a model owes an answer at the end of `messages`: to a prompt, to results, to calls cut
/// off by the program's end. Also after a failed call.
pub(super) fn is_unanswered(messages: &[Arc<Message>]) -> bool {
    let says_something = |message: &&Arc<Message>| match &***message {
        Message::User(user) => is_from_user(user.origin.as_deref()),
        // A failed answer is never sent. Its prompt comes before it, unless that was removed.
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

/// The start of the end: nothing before it affects what comes next.
pub(crate) fn end_of(messages: &[Arc<Message>]) -> usize {
    let begins = |message: &Arc<Message>| begins_end(message);
    messages.iter().rposition(begins).unwrap_or(0)
}
