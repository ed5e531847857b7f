//! What the actor does for a compaction: starts it when nothing else runs, keeps it for the run under
//! way, and puts the summary in place. Makes no summary itself.

use std::sync::Arc;

use super::activity::Activity;
use super::task::Actor;
use crate::agent::event::RunOutcome;
use crate::agent::memory::compaction::{Pruned, Window};
use crate::agent::runner::{CompactRequest, Summary, Turn, compact_now};

impl Actor {
    /// Compacts the conversation: at once when idle, else before the next call or after the run.
    pub(super) fn compact(&mut self, request: CompactRequest) {
        match self.activity {
            Activity::Idle => {
                let env = Arc::clone(&self.env);
                let opening = self.conversation.opening(&self.model, &self.toolbox);
                self.start(true, |link| async move {
                    compact_now(&link, &env, opening, request).await
                });
            }
            Activity::Running(_) | Activity::Ending { .. } => self.compact_next = Some(request),
            Activity::Leaving { .. } => {}
        }
    }

    /// The turn as it is, with a prompt in force, for a call that says nothing new.
    pub(super) fn current_turn(&mut self) -> Result<Turn, RunOutcome> {
        let model = Arc::clone(self.asked());
        self.conversation.ready_prompt(&model, &self.toolbox);
        self.next_turn()
    }

    /// Puts `summary` in place, and opens the turn behind it.
    pub(super) fn put_summary(&mut self, summary: Summary) -> Result<Turn, RunOutcome> {
        let model = Arc::clone(self.asked());
        let window = Window::of(&model, &self.rules.compaction);
        self.conversation.compact(summary, &model, &window);
        self.next_turn()
    }

    /// Leaves results out of the requests from here on, and opens the turn without them.
    pub(super) fn prune(&mut self, pruned: Vec<Pruned>) -> Result<Turn, RunOutcome> {
        self.conversation.prune(pruned);
        self.next_turn()
    }
}
