//! What the agent is doing, as one enum that every command is judged by. Decides nothing itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::event::{QueueKind, Queued, RunOutcome};
use crate::process::Processes;
use crate::question::Asker;
use crate::runner::{RunEnv, RunLink, RunMessage};
use tiller_llm::{Content, Model};

/// How long a cancelled run may take to end. Only a hanging disk holds it up longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A user message and the queue it is for.
pub(super) struct Typed {
    pub kind: QueueKind,
    pub content: Vec<Content>,
    /// The sender, or `None` if it was typed here.
    pub origin: Option<String>,
}

impl Typed {
    pub fn here(kind: QueueKind, content: Vec<Content>) -> Self {
        let origin = None;
        Self {
            kind,
            content,
            origin,
        }
    }
}

#[derive(Default)]
pub(super) enum Activity {
    /// Idle: the next message starts a run.
    #[default]
    Idle,
    Running(Run),
    /// An aborted run is ending. Messages typed since belong to the next run.
    Ending {
        run: Run,
        next: Vec<Queued>,
    },
    /// Shutting down: reads no more commands. The run, if any, was aborted.
    Leaving {
        run: Option<Run>,
        /// Notified once the agent has ended.
        done: Option<oneshot::Sender<Option<String>>>,
    },
}

pub(super) struct Run {
    pub messages: mpsc::Receiver<RunMessage>,
    pub task: JoinHandle<RunOutcome>,
    pub cancel: CancellationToken,
    /// When it is abandoned.
    deadline: Option<Instant>,
    /// Cuts the current turn short; a child of `cancel`.
    pub interrupt: CancellationToken,
    /// The scope of the processes its calls started.
    pub processes: Processes,
    /// `true` if it adds nothing to the conversation: a compaction, or a trial that ends or hasn't begun.
    pub silent: bool,
    /// Model calls since the last user message.
    pub calls: u32,
    /// Replaces the chosen model, which couldn't answer, until the run is over.
    pub fallback: Option<Arc<Model>>,
    /// `true` if the user has chosen another model since the last turn began.
    pub model_chosen: bool,
    /// The client that has stopped the next run already.
    pub stops_next: Option<u64>,
}

impl Run {
    /// Starts a run of `task` that `cancel` ends.
    pub fn start<F>(
        cancel: CancellationToken,
        env: Arc<RunEnv>,
        processes: Processes,
        asker: Asker,
        silent: bool,
        task: impl FnOnce(RunLink) -> F,
    ) -> Self
    where
        F: Future<Output = RunOutcome> + Send + 'static,
    {
        let (link, messages) = RunLink::new(cancel.clone(), env, processes.clone(), asker);
        Self {
            messages,
            task: tokio::spawn(task(link)),
            interrupt: cancel.child_token(),
            cancel,
            deadline: None,
            processes,
            silent,
            calls: 0,
            fallback: None,
            model_chosen: false,
            stops_next: None,
        }
    }

    /// Cancels the run. With `abandon`, its end is awaited for at most [`PATIENCE`].
    pub fn cancel(&mut self, abandon: bool) {
        self.cancel.cancel();
        self.deadline = abandon.then(|| Instant::now() + PATIENCE);
    }

    /// Returns how it ended, or `None` if it had to be abandoned.
    pub async fn outcome(&mut self) -> Option<RunOutcome> {
        let ended = match self.deadline {
            Some(deadline) => timeout_at(deadline, &mut self.task).await,
            None => Ok((&mut self.task).await),
        };
        let Ok(ended) = ended else {
            tracing::warn!("a cancelled run does not end: it is abandoned");
            self.task.abort();
            return None;
        };
        Some(ended.unwrap_or_else(|error| {
            let message = format!("Internal error: {error}");
            RunOutcome::Failed { message }
        }))
    }

    async fn next_message(&mut self) -> Option<RunMessage> {
        match self.deadline {
            Some(deadline) => timeout_at(deadline, self.messages.recv()).await.ok()?,
            None => self.messages.recv().await,
        }
    }

    /// Fails once the run has made `limit` model calls. 0 means no limit.
    pub fn check_limit(&self, limit: u32) -> Result<(), RunOutcome> {
        if limit > 0 && self.calls >= limit {
            return Err(RunOutcome::LimitReached { limit });
        }
        Ok(())
    }
}

impl Activity {
    /// Returns the run, even if it is ending.
    pub fn run(&mut self) -> Option<&mut Run> {
        match self {
            Self::Running(run) | Self::Ending { run, .. } => Some(run),
            Self::Leaving { run, .. } => run.as_mut(),
            Self::Idle => None,
        }
    }

    /// Returns the run unless it is being cancelled.
    pub fn live_run(&mut self) -> Result<&mut Run, RunOutcome> {
        let run = self.run().filter(|run| !run.cancel.is_cancelled());
        run.ok_or(RunOutcome::Aborted)
    }

    /// Removes and returns a run that has ended, with the messages typed since its abort.
    pub fn take_run(&mut self) -> Option<(Run, Vec<Queued>)> {
        match std::mem::take(self) {
            Self::Running(run) => Some((run, Vec::new())),
            Self::Ending { run, next } => Some((run, next)),
            Self::Leaving { run, done } => {
                *self = Self::Leaving { run: None, done };
                Some((run?, Vec::new()))
            }
            Self::Idle => None,
        }
    }

    /// Removes and returns the messages typed since the run was aborted.
    pub fn take_messages_since_abort(&mut self) -> Vec<Queued> {
        match self {
            Self::Ending { next, .. } => std::mem::take(next),
            _ => Vec::new(),
        }
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self, Self::Leaving { .. })
    }

    /// Returns the run's next report, or `None` if its task has ended or is overdue.
    pub async fn next_message(&mut self) -> Option<RunMessage> {
        match self.run() {
            Some(run) => run.next_message().await,
            None => std::future::pending().await,
        }
    }
}
