//! The messages that attached clients got back and haven't released yet. A screen releases them once its draft
//! is on disk; a client that leaves before that would lose them, so the agent's own front end gets them.

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
        let of_gone = (self.returned.held).extract_if(.., |(client, _)| *client == gone);
        let messages: Vec<Queued> = of_gone.map(|(_, queued)| queued).collect();
        self.give_back(messages, 0);
    }
}
