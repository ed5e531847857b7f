//! What subscribers learn about the agent itself: its state, its queues, and both at once.

use std::sync::Arc;

use super::task::Actor;
use crate::event::{AgentEvent, Queued, RunState};
use crate::handle::Snapshot;

impl Actor {
    /// Returns messages to their author. They stay in the session until they are released.
    pub(super) fn give_back(&mut self, messages: Vec<Queued>) {
        if !messages.is_empty() {
            self.show_queues();
            let returned = AgentEvent::QueueReturned { messages };
            self.conversation.send(returned);
        }
    }

    pub(super) fn enter(&mut self, state: RunState) {
        if self.state != state {
            self.conversation.show((&state).into());
            self.state = state.clone();
            self.conversation.send(AgentEvent::State(state));
        }
    }

    /// Sends the state again, so that a client that expected a run sees that none has started.
    pub(super) fn show_state(&mut self) {
        self.conversation
            .send(AgentEvent::State(self.state.clone()));
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let (steering, follow_up) = self.queues.shown();
        Snapshot {
            facts: Arc::new(self.conversation.facts()),
            branch: self.conversation.branch(),
            state: self.state.clone(),
            questions: self.questions.open(),
            steering,
            follow_up,
        }
    }

    pub(super) fn show_queues(&mut self) {
        let (steering, follow_up) = self.queues.shown();
        self.conversation.send(AgentEvent::QueueUpdate {
            steering,
            follow_up,
        });
    }
}
