//! What the agent is doing, as the one enum that commands are judged by. Decides nothing itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::agent::event::{QueueKind, Queued, RunOutcome};
use crate::agent::process::Processes;
use crate::agent::question::Asker;
use crate::agent::runner::{RunEnv, RunLink, RunMessage};
use crate::llm::{Content, Model};

/// How long a run may take to end once it was cancelled. What holds it up longer is a disk that hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// A message of the user with the queue it is for.
pub(super) struct Typed {
    pub kind: QueueKind,
    pub content: Vec<Content>,
    /// Where it came from; none when it was typed here.
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
    /// Nothing: the next message starts a run.
    #[default]
    Idle,
    Running(Run),
    /// A run was aborted and comes to its end. What was typed since belongs to the next one.
    Ending {
        run: Run,
        next: Vec<Queued>,
    },
    /// No command is read any more; the run, if there is one, was aborted.
    Leaving {
        run: Option<Run>,
        /// Waits for the agent to be gone.
        done: Option<oneshot::Sender<Option<String>>>,
    },
}

pub(super) struct Run {
    pub messages: mpsc::Receiver<RunMessage>,
    pub task: JoinHandle<RunOutcome>,
    pub cancel: CancellationToken,
    /// When it is abandoned.
    deadline: Option<Instant>,
    /// Cuts the turn under way short; a child of `cancel`.
    pub interrupt: CancellationToken,
    /// The scope of what its calls started.
    pub processes: Processes,
    /// Whether it adds nothing to the conversation: a compaction, or a trial that ends or is not
    /// begun yet.
    pub silent: bool,
    /// Model calls since the last message of the user.
    pub calls: u32,
    /// Answers in place of the chosen model, which could not, until the run is over.
    pub fallback: Option<Arc<Model>>,
    /// Whether the user has chosen another model since the last turn began.
    pub model_chosen: bool,
}

impl Run {
    /// A run of `task` that `cancel` ends.
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
        }
    }

    /// Cancels it. With `abandon` nobody waits longer than [`PATIENCE`] for its end.
    pub fn cancel(&mut self, abandon: bool) {
        self.cancel.cancel();
        self.deadline = abandon.then(|| Instant::now() + PATIENCE);
    }

    /// How it ended; none if it had to be abandoned.
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

    /// Fails when all model calls that `limit` allows were made; 0 is no limit.
    pub fn check_limit(&self, limit: u32) -> Result<(), RunOutcome> {
        if limit > 0 && self.calls >= limit {
            return Err(RunOutcome::LimitReached { limit });
        }
        Ok(())
    }
}

impl Activity {
    /// The run, also one that is ending.
    pub fn run(&mut self) -> Option<&mut Run> {
        match self {
            Self::Running(run) | Self::Ending { run, .. } => Some(run),
            Self::Leaving { run, .. } => run.as_mut(),
            Self::Idle => None,
        }
    }

    /// The run, unless it is to end.
    pub fn live_run(&mut self) -> Result<&mut Run, RunOutcome> {
        let run = self.run().filter(|run| !run.cancel.is_cancelled());
        run.ok_or(RunOutcome::Aborted)
    }

    /// Takes the run out when it is over, with what was typed since its abort.
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

    /// Takes what was typed since the run was aborted.
    pub fn take_messages_since_abort(&mut self) -> Vec<Queued> {
        match self {
            Self::Ending { next, .. } => std::mem::take(next),
            _ => Vec::new(),
        }
    }

    pub fn is_leaving(&self) -> bool {
        matches!(self, Self::Leaving { .. })
    }

    /// The run's next report; none when its task has ended, or should have by now.
    pub async fn next_message(&mut self) -> Option<RunMessage> {
        match self.run() {
            Some(run) => run.next_message().await,
            None => std::future::pending().await,
        }
    }
}
