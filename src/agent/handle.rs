//! The only way in: a handle that is cheap to clone and never blocks.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::event::{Event, QueueKind};
use crate::llm::{Content, Model, ThinkingLevel};

/// Events a subscriber may leave unread before the agent waits for it.
pub const EVENT_BUFFER: usize = 256;

/// Speaks to one agent. Cheap to clone; no call blocks or fails: an agent that is gone ignores it.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    commands: mpsc::UnboundedSender<Command>,
    run: RunToken,
}

/// The cancellation token of the run under way, shared by handle and actor so that an abort does
/// not wait for the command queue.
#[derive(Clone, Debug, Default)]
pub struct RunToken(Arc<Mutex<CancellationToken>>);

impl RunToken {
    /// A fresh token for a new run.
    pub fn renew(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// Cancels the run under way, if any. Idempotent.
    pub fn cancel(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cancel();
    }
}

/// What can be asked of an agent. Read by the actor in order.
#[derive(Debug)]
pub enum Command {
    /// A message of a person: starts a run when idle, else waits as steering.
    Prompt(Vec<Content>),
    /// A message for one of the queues; when idle it starts a run.
    Queue(QueueKind, Vec<Content>),
    /// Interrupts the running call or stream and delivers the waiting steering messages now.
    SteerNow,
    /// Gives waiting messages back as `QueueReturned`: this one, or all.
    TakeBack(Option<u64>),
    /// Ends the run (its token is already cancelled). While processes still die: kills them now.
    Abort,
    /// Goes on after the iteration limit.
    Continue,
    /// The model from the next call on.
    SetModel(Box<Model>),
    /// The thinking level from the next call on.
    SetThinking(ThinkingLevel),
    /// Gets ready for a request: a person has begun to type one.
    Warm,
    /// Sends every event from now on to this channel.
    Subscribe(mpsc::Sender<Arc<Event>>),
    /// Ends the run, tells all processes to die, writes what is open, answers, and stops.
    Shutdown(oneshot::Sender<()>),
}

impl AgentHandle {
    /// A handle, and what the actor reads.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Command>, RunToken) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let run = RunToken::default();
        (
            Self {
                commands,
                run: run.clone(),
            },
            receiver,
            run,
        )
    }

    /// Sends a person's message: starts a run when idle, else steers.
    pub fn prompt(&self, content: Vec<Content>) {
        self.send(Command::Prompt(content));
    }

    /// Queues a message that goes out before the next tool group or model call.
    pub fn steer(&self, content: Vec<Content>) {
        self.send(Command::Queue(QueueKind::Steering, content));
    }

    /// Queues a message that goes out when the agent would stop.
    pub fn follow_up(&self, content: Vec<Content>) {
        self.send(Command::Queue(QueueKind::FollowUp, content));
    }

    /// Interrupts what runs and delivers the waiting steering messages.
    pub fn steer_now(&self) {
        self.send(Command::SteerNow);
    }

    /// Takes one waiting message back, or all of them.
    pub fn take_back(&self, id: Option<u64>) {
        self.send(Command::TakeBack(id));
    }

    /// Stops the run at once; a second call while processes still die kills them.
    pub fn abort(&self) {
        self.run.cancel();
        self.send(Command::Abort);
    }

    /// Goes on after the iteration limit.
    pub fn go_on(&self) {
        self.send(Command::Continue);
    }

    /// Changes the model from the next call on.
    pub fn set_model(&self, model: Model) {
        self.send(Command::SetModel(Box::new(model)));
    }

    /// Changes the thinking level from the next call on.
    pub fn set_thinking(&self, thinking: ThinkingLevel) {
        self.send(Command::SetThinking(thinking));
    }

    /// Opens what the next prompt will need, so that it leaves at once. Says nothing.
    pub fn warm(&self) {
        self.send(Command::Warm);
    }

    /// All events from now on, in order. A reader that leaves [`EVENT_BUFFER`] events unread slows
    /// the agent; one that is stuck for 5 s is dropped.
    pub fn subscribe(&self) -> mpsc::Receiver<Arc<Event>> {
        let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
        self.send(Command::Subscribe(sender));
        receiver
    }

    /// Ends everything in order and returns when the agent is done: run aborted, processes told
    /// to die, session on disk.
    pub async fn shutdown(&self) {
        self.run.cancel();
        let (done, wait) = oneshot::channel();
        self.send(Command::Shutdown(done));
        let _ = wait.await;
    }

    fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }
}
