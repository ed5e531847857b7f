//! What a turn came to: how long it took, what it called and changed, what it cost. Counted from the
//! agent's events as they come; stored messages do not tell where a run ended.

use std::collections::BTreeSet;
use std::iter;

use super::cell::CellBody;
use super::cells::Cells;
use super::notices;
use crate::agent::event::{AgentEvent, NoticeLevel, RunOutcome, ToolStatus};
use crate::agent::tool::Details;
use crate::llm::{AssistantMessage, Content, Message};

/// What a turn came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnSummary {
    pub end: TurnEnd,
    pub millis: i64,
    pub calls: usize,
    pub files: usize,
    pub added: u64,
    pub removed: u64,
    /// In dollars.
    pub cost: f64,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    #[default]
    Done,
    Stopped,
    Failed,
}

/// The turn under way.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnFacts {
    /// When it was asked for (Unix ms).
    since: Option<i64>,
    last: i64,
    calls: usize,
    files: BTreeSet<String>,
    added: u64,
    removed: u64,
    cost: f64,
    /// Whether the model gave anything.
    has_answer: bool,
}

impl TurnFacts {
    /// Counts an event that happened at `time`, and closes the turn at its end.
    pub fn apply(&mut self, cells: &mut Cells, event: &AgentEvent, time: i64) {
        self.last = time;
        match event {
            AgentEvent::AgentStart => self.since = Some(time),
            AgentEvent::MessageEnd { message } => {
                if let Message::Assistant(message) = &**message {
                    self.answer(message);
                }
            }
            AgentEvent::ToolEnd {
                status, details, ..
            } => self.call(*status, details),
            AgentEvent::AgentEnd { outcome, .. } => {
                let end = match outcome {
                    RunOutcome::Aborted => TurnEnd::Stopped,
                    RunOutcome::Failed { .. } => TurnEnd::Failed,
                    _ => TurnEnd::Done,
                };
                if matches!(outcome, RunOutcome::Done) && self.since.is_some() && !self.has_answer {
                    let text = "The model gave no answer\nSay it again, or choose another model";
                    notices::push(cells, NoticeLevel::Warning, text);
                }
                self.close(cells, end);
            }
            _ => {}
        }
    }

    /// Says what the turn came to, where there is something to say.
    fn close(&mut self, cells: &mut Cells, end: TurnEnd) {
        let facts = std::mem::take(self);
        let Some(since) = facts.since else { return };
        let summary = TurnSummary {
            end,
            millis: facts.last - since,
            calls: facts.calls,
            files: facts.files.len(),
            added: facts.added,
            removed: facts.removed,
            cost: facts.cost,
        };
        let is_silent = summary.millis < 1000 && summary.calls == 0 && summary.cost == 0.0;
        if !is_silent || end != TurnEnd::Done {
            cells.push(CellBody::TurnEnd(summary));
        }
    }

    fn answer(&mut self, message: &AssistantMessage) {
        self.cost += message.usage.cost.total;
        self.has_answer |= message.content.iter().any(|block| match block {
            Content::Text(text) => !text.text.trim().is_empty(),
            Content::ToolCall(_) => true,
            _ => false,
        });
    }

    fn call(&mut self, status: ToolStatus, details: &Details) {
        self.calls += 1;
        let Details::Diff(diff) = details else { return };
        if status != ToolStatus::Ok {
            return;
        }
        for file in iter::once(diff).chain(&diff.files) {
            self.files.insert(file.path.clone());
            self.added += file.added;
            self.removed += file.removed;
        }
    }
}
