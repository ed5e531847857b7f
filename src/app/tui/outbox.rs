//! Messages on their way to the agent. The files that one mentions are read on another thread, which a
//! slow disk may hold up; what is sent after it waits behind it, so that the order stays.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::agent::{AgentHandle, QueueKind};
use crate::app::attachments::{attach_mentions, mentions_files};
use crate::llm::Content;

/// A file that takes longer is left to the model's tools: it may be on a server that is gone.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Something for the agent whose order counts.
pub(super) enum Outgoing {
    Message(QueueKind, Vec<Content>),
    BeginTrial(Vec<Content>),
    SteerNow,
    TakeBack,
    Abort,
    GoOn,
}

pub(super) struct Outbox {
    handle: AgentHandle,
    cwd: PathBuf,
    /// How many wait.
    waiting: Arc<AtomicUsize>,
    /// The task that delivers what waits, once something had to.
    queue: Option<UnboundedSender<Outgoing>>,
}

impl Outbox {
    pub(super) fn new(handle: AgentHandle, cwd: PathBuf) -> Self {
        Self {
            handle,
            cwd,
            waiting: Arc::default(),
            queue: None,
        }
    }

    /// Delivers it; at once, unless files are to be read for it or for something before it.
    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let waits = self.waiting.load(Ordering::Acquire) > 0;
        if waits
            || outgoing
                .content()
                .is_some_and(|content| mentions_files(content))
        {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            let queue = self.queue.take().unwrap_or_else(|| self.start());
            let _ = queue.send(outgoing);
            self.queue = Some(queue);
        } else {
            outgoing.deliver(&self.handle);
        }
    }

    fn start(&self) -> UnboundedSender<Outgoing> {
        let (sender, mut receiver) = unbounded_channel::<Outgoing>();
        let (handle, cwd) = (self.handle.clone(), self.cwd.clone());
        let waiting = Arc::clone(&self.waiting);
        tokio::spawn(async move {
            while let Some(mut outgoing) = receiver.recv().await {
                if let Some(content) = outgoing.content() {
                    let (content, cwd) = (content.clone(), cwd.clone());
                    let read = spawn_blocking(move || attach_mentions(content, &cwd));
                    if let (Some(content), Ok(Ok(read))) =
                        (outgoing.content_mut(), timeout(TIMEOUT, read).await)
                    {
                        *content = read;
                    }
                }
                outgoing.deliver(&handle);
                waiting.fetch_sub(1, Ordering::AcqRel);
            }
        });
        sender
    }
}

impl Outgoing {
    fn content(&self) -> Option<&Vec<Content>> {
        match self {
            Self::Message(_, content) | Self::BeginTrial(content) => Some(content),
            Self::SteerNow | Self::TakeBack | Self::Abort | Self::GoOn => None,
        }
    }

    fn content_mut(&mut self) -> Option<&mut Vec<Content>> {
        match self {
            Self::Message(_, content) | Self::BeginTrial(content) => Some(content),
            Self::SteerNow | Self::TakeBack | Self::Abort | Self::GoOn => None,
        }
    }

    fn deliver(self, handle: &AgentHandle) {
        match self {
            Self::Message(QueueKind::Steering, content) => handle.steer(content),
            Self::Message(QueueKind::FollowUp, content) => handle.follow_up(content),
            Self::BeginTrial(content) => handle.begin_trial(content),
            Self::SteerNow => handle.steer_now(),
            Self::TakeBack => handle.take_back(None),
            Self::Abort => handle.abort(),
            Self::GoOn => handle.go_on(),
        }
    }
}
