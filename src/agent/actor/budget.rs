//! What the session may spend, as the user changes it.

use super::task::Actor;
use crate::agent::budget::Budget;
use crate::agent::event::AgentEvent;

impl Actor {
    pub(super) fn raise_budget(&mut self) {
        self.env.account.raise();
        self.show_budget();
    }

    pub(super) fn set_budget(&mut self, budget: Budget) {
        self.env.account.set_limit(budget);
        self.show_budget();
    }

    pub(super) fn show_budget(&mut self) {
        let limit = self.env.account.limit();
        self.conversation.send(AgentEvent::Budget(limit));
    }
}
