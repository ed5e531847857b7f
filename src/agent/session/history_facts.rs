//! What is known of a conversation that nobody goes on with yet: what it took and how it ends. Holds
//! no message but the last, so a long past costs nothing until a run reads it.

use std::sync::Arc;

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
pub(super) fn begins_end(message: &Message) -> bool {
    match message {
        Message::User(_) => true,
        Message::Assistant(answer) => {
            answer.stop_reason == StopReason::ToolUse && answer.tool_calls().next().is_some()
        }
        Message::ToolResult(_) => false,
    }
}

/// Where the end of these messages begins: what comes next depends on nothing before it.
pub(in crate::agent) fn end_of(messages: &[Arc<Message>]) -> usize {
    let begins = |message: &Arc<Message>| begins_end(message);
    messages.iter().rposition(begins).unwrap_or(0)
}
