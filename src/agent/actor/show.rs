//! What subscribers learn about the agent itself: its state, its queues, and both at once.

use std::path::Path;
use std::sync::Arc;

use super::activity::Activity;
use super::task::Actor;
use crate::event::{AgentEvent, Phase, Queued, RunState};
use crate::handle::{SessionInfo, Snapshot};

impl Actor {
    /// Returns messages to the client `to`. They stay in the session until they are released.
    pub(super) fn give_back(&mut self, messages: Vec<Queued>, to: u64) {
        if !messages.is_empty() {
            self.show_queues();
            let to = self.returned.note(&messages, to);
            let returned = AgentEvent::QueueReturned { messages, to };
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
        let session = &self.conversation.session;
        let state = match &self.activity {
            // It has started, but hasn't reached its first phase.
            Activity::Running(_) if self.state == RunState::Idle => RunState::Running {
                phase: Phase::Requesting,
            },
            _ => self.state.clone(),
        };
        Snapshot {
            facts: Arc::new(self.conversation.facts()),
            branch: self.conversation.branch(),
            state,
            questions: self.questions.open(),
            steering,
            follow_up,
            model: Arc::clone(&self.model),
            thinking: self.thinking,
            permission: self.policy.get().mode,
            budget: self.env.account.limit(),
            usage: session.usage().clone(),
            rules: Arc::clone(&self.rules),
            session: SessionInfo {
                id: session.id().to_owned(),
                path: session.path().map(Path::to_owned),
                name: session.tree().name().map(str::to_owned),
                first_prompt: session.first_prompt(),
                read_only: session.is_read_only(),
            },
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
