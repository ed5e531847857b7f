//! Messages on their way to the agent. The files that one mentions are read on another thread, which a
//! slow disk may hold up; what is sent after it waits behind it, so that the order stays.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::agent::{AgentHandle, Answer, NoticeLevel, QueueKind};
use crate::app::attachments::{attach_mentions, mentions_files, pictures_in};
use crate::llm::Content;

/// A file that takes longer is left to the model's tools: it may be on a server that is gone.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) enum Outgoing {
    Message(QueueKind, Vec<Content>),
    BeginTrial(Vec<Content>),
    /// An answer is only text: the pictures that it mentions go before it, as a message.
    Answer(u64, Answer, Vec<Content>),
}

/// Delivers messages in the order they were sent. Dropping it delivers what waits.
pub(super) struct Outbox {
    handle: AgentHandle,
    cwd: PathBuf,
    waiting: Arc<Mutex<Waiting>>,
}

/// What waits until the files of the first are read.
#[derive(Default)]
struct Waiting {
    messages: VecDeque<Outgoing>,
    /// How many have left so far: the number of the first.
    left: u64,
    is_read_for: bool,
}

impl Outbox {
    pub(super) fn new(handle: AgentHandle, cwd: PathBuf) -> Self {
        Self {
            handle,
            cwd,
            waiting: Arc::default(),
        }
    }

    /// Delivers it; at once, unless files are to be read for it or for one before it.
    pub(super) fn send(&self, outgoing: Outgoing) {
        let mut waiting = lock(&self.waiting);
        if waiting.messages.is_empty() && !mentions_files(outgoing.content()) {
            outgoing.deliver(&self.handle);
            return;
        }
        waiting.messages.push_back(outgoing);
        if !waiting.is_read_for {
            waiting.is_read_for = true;
            let (handle, cwd) = (self.handle.clone(), self.cwd.clone());
            tokio::spawn(read(Arc::clone(&self.waiting), handle, cwd));
        }
    }

    /// Answers a question; at once, unless pictures are to be read for it.
    pub(super) fn answer(&self, id: u64, answer: Answer) {
        let pictures = match &answer {
            Answer::Reply(text) | Answer::Refuse { reason: Some(text) } => pictures_in(text),
            _ => Vec::new(),
        };
        if pictures.is_empty() {
            self.handle.answer(id, answer);
        } else {
            self.send(Outgoing::Answer(id, answer, pictures));
        }
    }

    /// Delivers what waits, now and without its files: the model has tools to read them. For what
    /// cannot wait and must not overtake a message.
    pub(super) fn hurry(&self) {
        let mut waiting = lock(&self.waiting);
        while let Some(outgoing) = waiting.next() {
            outgoing.deliver(&self.handle);
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.hurry();
    }
}

impl Waiting {
    fn next(&mut self) -> Option<Outgoing> {
        let outgoing = self.messages.pop_front()?;
        self.left += 1;
        Some(outgoing)
    }
}

/// Reads the files of those that wait and delivers them, until none is left.
async fn read(waiting: Arc<Mutex<Waiting>>, handle: AgentHandle, cwd: PathBuf) {
    loop {
        let (number, content) = {
            let mut waiting = lock(&waiting);
            let Some(first) = waiting.messages.front() else {
                waiting.is_read_for = false;
                return;
            };
            (waiting.left, first.content().clone())
        };
        let cwd = cwd.clone();
        let read = spawn_blocking(move || attach_mentions(content, &cwd));
        let read = timeout(TIMEOUT, read).await;
        let mut waiting = lock(&waiting);
        // It may have left without them.
        if waiting.left == number
            && let Some(mut outgoing) = waiting.next()
        {
            if let Ok(Ok((content, left_out))) = read {
                *outgoing.content_mut() = content;
                if !left_out.is_empty() {
                    let text = format!("Not attached: {}", left_out.join(", "));
                    handle.notify(NoticeLevel::Warning, text);
                }
            }
            outgoing.deliver(&handle);
        }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outgoing {
    fn content(&self) -> &Vec<Content> {
        match self {
            Self::Message(_, content) | Self::BeginTrial(content) | Self::Answer(.., content) => {
                content
            }
        }
    }

    fn content_mut(&mut self) -> &mut Vec<Content> {
        match self {
            Self::Message(_, content) | Self::BeginTrial(content) | Self::Answer(.., content) => {
                content
            }
        }
    }

    fn deliver(self, handle: &AgentHandle) {
        match self {
            Self::Message(QueueKind::Steering, content) => handle.steer(content),
            Self::Message(QueueKind::FollowUp, content) => handle.follow_up(content),
            Self::BeginTrial(content) => handle.begin_trial(content),
            Self::Answer(id, answer, pictures) => {
                // Without what was read it would say nothing that the answer does not say.
                if pictures.len() > 1 {
                    handle.steer(pictures);
                }
                handle.answer(id, answer);
            }
        }
    }
}
