//! User messages, typed here or sent from another program. Each one's fate is decided, stored and
//! answered in one step.

use tokio::sync::mpsc::UnboundedReceiver;

use super::activity::{Activity, Typed};
use super::task::Actor;
use crate::event::{QueueKind, Queued};
use crate::handle::{Accept, Command, Delivery, Refused, Submission, TrialCommand};
use crate::session::Body;
use tiller_llm::Content;

impl Actor {
    /// Accepts a message as if it had been typed here, or returns why not.
    pub(super) fn submit(&mut self, message: Submission) -> Result<Delivery, Refused> {
        let is_empty =
            |block: &Content| matches!(block, Content::Text(block) if block.text.trim().is_empty());
        if message.content.iter().all(is_empty) {
            return Err(Refused::Empty);
        }
        if self.conversation.session.is_read_only() {
            return Err(Refused::ReadOnly);
        }
        let open = self.conversation.session.id();
        if let Some(wanted) = message.session.filter(|wanted| wanted != open) {
            let open = open.to_owned();
            return Err(Refused::OtherSession { wanted, open });
        }
        let delivery = match &self.activity {
            Activity::Leaving { .. } => return Err(Refused::Leaving),
            Activity::Running(_) if message.accept == Accept::Idle => {
                return Err(Refused::Running);
            }
            Activity::Running(_) => Delivery::Queued(message.kind),
            _ if message.accept == Accept::Running => return Err(Refused::NoRun),
            _ => Delivery::Started(self.current.next()),
        };
        let queued = self.keep(Typed {
            kind: message.kind,
            content: message.content,
            origin: message.origin,
        });
        if let Some((_, error)) = self.conversation.save() {
            // The sender keeps it.
            self.let_go(&[queued.id]);
            return Err(Refused::Unsaved(error));
        }
        self.place(queued);
        Ok(delivery)
    }

    /// Stores a user message. It waits while a run is active, else it starts one. Ignores empty messages.
    pub(super) fn enqueue(&mut self, typed: Typed) {
        if !typed.content.is_empty() {
            let queued = self.keep(typed);
            self.place(queued);
        }
    }

    /// Stores a message that will wait.
    pub(super) fn keep(&mut self, typed: Typed) -> Queued {
        let queued = self.queues.number(typed);
        let body = Body::queued(self.conversation.session.id(), &queued);
        self.conversation.store(body);
        self.queues.note_stored(&queued);
        queued
    }

    /// Hands these messages over to the user: they no longer wait.
    pub(super) fn release(&mut self, ids: &[u64]) {
        self.returned.release(ids);
        let back = ids.iter().flat_map(|id| self.queues.take_back(Some(*id)));
        if back.count() > 0 {
            self.show_queues();
        }
        self.let_go(ids);
    }

    /// Hands all waiting messages over to the caller, except for trials, which only the user begins.
    pub(super) fn clear_queue(&mut self) -> Vec<Queued> {
        let (trials, messages): (Vec<_>, Vec<_>) = (self.queues.take_back(None).into_iter())
            .partition(|queued| queued.kind == QueueKind::Trial);
        for trial in trials {
            self.queues.push(trial);
        }
        if !messages.is_empty() {
            self.show_queues();
            let ids: Vec<u64> = messages.iter().map(|queued| queued.id).collect();
            self.let_go(&ids);
        }
        messages
    }

    /// Stores that these messages no longer wait.
    pub(super) fn let_go(&mut self, ids: &[u64]) {
        let (ids, left) = self.queues.let_go(ids);
        if !ids.is_empty() {
            self.conversation.store(Body::unqueued(ids, left));
        }
    }

    pub(super) fn place(&mut self, queued: Queued) {
        match &mut self.activity {
            // Only `begin_trial` sends it: here it would change the user's files.
            _ if queued.kind == QueueKind::Trial => {
                self.queues.push(queued);
                self.show_queues();
            }
            Activity::Idle => {
                self.queues.push_opening(queued);
                self.start_run();
            }
            // Even if the run is cancelled: its `Abort` was sent after this message.
            Activity::Running(_) => {
                self.queues.push(queued);
                self.show_queues();
            }
            Activity::Ending { next, .. } => next.push(queued),
            // It waits in the session.
            Activity::Leaving { .. } => self.queues.push(queued),
        }
    }

    /// Keeps what clients have sent since the shutdown began: they take it for sent.
    pub(super) fn keep_unread(&mut self, commands: &mut UnboundedReceiver<Command>) {
        while let Ok(command) = commands.try_recv() {
            if let Command::Message(..)
            | Command::Answer(..)
            | Command::Trial(TrialCommand::Begin(..)) = &command
            {
                self.on_command(Some(command));
            }
        }
    }

    /// Gives the messages for the next run back together with the queue of the ending run.
    pub(super) fn recall_next(&mut self) {
        for queued in self.activity.take_messages_since_abort() {
            self.queues.push(queued);
        }
    }

    pub(super) fn steer_now(&mut self) {
        let hurries = self.queues.steering_waits() || self.state.is_retrying();
        match self.activity.run() {
            Some(run) if hurries => run.interrupt.cancel(),
            None if self.queues.anything_waits() => self.resume(),
            _ => {}
        }
    }
}
