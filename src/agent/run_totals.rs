//! The totals of a run: its duration, calls, changes and cost. Counted from its events as they are
//! published, and stored at its end.

use std::collections::BTreeSet;
use std::iter;

use serde::{Deserialize, Serialize};

use super::event::{AgentEvent, CompactionOutcome, RunOutcome, ToolStatus};
use super::tool::Details;
use tiller_llm::Message;

/// The totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunTotals {
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Tool calls.
    pub calls: u64,
    /// Files it changed.
    pub files: u64,
    /// Lines it added.
    pub added: u64,
    /// Lines it removed.
    pub removed: u64,
    /// Cost in dollars.
    pub cost: f64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// It finished.
    #[default]
    Done,
    /// The user stopped it.
    Stopped,
    /// It couldn't continue.
    Failed,
}

impl From<&RunOutcome> for RunEnd {
    fn from(outcome: &RunOutcome) -> Self {
        match outcome {
            RunOutcome::Aborted => Self::Stopped,
            RunOutcome::Failed { .. } => Self::Failed,
            _ => Self::Done,
        }
    }
}

/// Counts the totals of the current run.
#[derive(Debug, Default)]
pub struct RunCounter {
    /// When it started (Unix ms).
    since: Option<i64>,
    files: BTreeSet<String>,
    /// Files in the records for undo, which leave out what git ignores.
    recorded: u64,
    totals: RunTotals,
}

impl RunCounter {
    /// Counts an event that happened at `now` (Unix ms).
    pub fn count(&mut self, event: &AgentEvent, now: i64) {
        match event {
            AgentEvent::AgentStart => {
                *self = Self {
                    since: Some(now),
                    ..Self::default()
                };
            }
            AgentEvent::MessageEnd { message } => {
                if let Message::Assistant(message) = &**message {
                    self.totals.cost += message.usage.cost.total;
                }
            }
            AgentEvent::Spent { usage, .. }
            | AgentEvent::CompactionEnd {
                outcome: CompactionOutcome::Done { usage, .. },
                ..
            } => self.totals.cost += usage.cost.total,
            AgentEvent::ToolEnd {
                status, details, ..
            } => {
                self.totals.calls += 1;
                if let (Details::Diff(diff), ToolStatus::Ok) = (&**details, status) {
                    for file in iter::once(diff).chain(&diff.files) {
                        self.files.insert(file.path.clone());
                        self.totals.added += file.added;
                        self.totals.removed += file.removed;
                    }
                }
            }
            _ => {}
        }
    }

    /// Counts the files that a turn changed, whether by tools or by commands.
    pub(crate) fn count_files(&mut self, files: u64) {
        self.recorded += files;
    }

    /// Returns the totals of a run that ends at `now` (Unix ms). Empty if no run has started.
    pub fn totals(&self, now: i64) -> RunTotals {
        let Some(since) = self.since else {
            return RunTotals::default();
        };
        RunTotals {
            duration_ms: now.abs_diff(since),
            files: self.recorded.max(self.files.len() as u64),
            ..self.totals.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_files_count_until_the_next_run() {
        let mut counter = RunCounter::default();
        counter.count(&AgentEvent::AgentStart, 0);
        counter.count_files(2);
        assert_eq!(counter.totals(1).files, 2);
        counter.count(&AgentEvent::AgentStart, 2);
        assert_eq!(counter.totals(3).files, 0);
    }
}
