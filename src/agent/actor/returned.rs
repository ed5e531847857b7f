//! The messages that other clients have got back and not released yet. No file stores the text of their
//! editors, so when such a client leaves, the client that started the agent gets the messages.

use std::collections::BTreeSet;

use super::task::Actor;
use crate::event::Queued;

#[derive(Debug, Default)]
pub(super) struct Returned {
    held: Vec<(u64, Queued)>,
    gone: BTreeSet<u64>,
}

impl Returned {
    /// Notes that `messages` return to the client `to`. Returns the client that gets them, because `to` may
    /// have left.
    pub fn note(&mut self, messages: &[Queued], to: u64) -> u64 {
        if to == 0 || self.gone.contains(&to) {
            return 0;
        }
        let held = messages.iter().map(|queued| (to, queued.clone()));
        self.held.extend(held);
        to
    }

    pub fn release(&mut self, ids: &[u64]) {
        self.held.retain(|(_, queued)| !ids.contains(&queued.id));
    }

    /// Another session is open: the previous one keeps them.
    pub fn forget(&mut self) {
        self.held.clear();
    }
}

impl Actor {
    /// Gives what the client `gone` holds to the client that started the agent.
    pub(super) fn detach(&mut self, gone: u64) {
        self.returned.gone.insert(gone);
        let (of_gone, held) = std::mem::take(&mut self.returned.held)
            .into_iter()
            .partition(|(client, _)| *client == gone);
        self.returned.held = held;
        let of_gone: Vec<(u64, Queued)> = of_gone;
        self.give_back(of_gone.into_iter().map(|(_, queued)| queued).collect(), 0);
    }
}
