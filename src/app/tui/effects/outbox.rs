//! Messages on their way to the agent. Another thread reads the files they mention, which a slow
//! disk may delay. Later messages wait, so that the order stays.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::agent::mcp::Mcp;
use crate::agent::{AgentHandle, Answer, NoticeLevel, QueueKind};
use crate::app::attachments::{attach_mentions, mentions_files, pictures_in};
use crate::app::resources::{attach_resources, mentions_resources};
use crate::llm::Content;

/// Files that take longer to read are left to the model's tools: their server may be gone.
const TIMEOUT: Duration = Duration::from_secs(10);

enum Outgoing {
    Message(QueueKind, Vec<Content>),
    /// Answers are plain text: pictures that one mentions go before it, as a message.
    Answer(u64, Answer, Vec<Content>),
}

/// Delivers messages in order. Dropping it delivers those that wait.
pub(super) struct Outbox {
    handle: AgentHandle,
    cwd: PathBuf,
    mcp: Mcp,
    waiting: Arc<Mutex<Waiting>>,
}

/// Messages that wait until the files of the first are read.
#[derive(Default)]
struct Waiting {
    messages: VecDeque<Outgoing>,
    /// How many have left so far; the number of the first in the queue.
    left: u64,
    is_read_for: bool,
}

impl Outbox {
    pub(super) fn new(handle: AgentHandle, cwd: PathBuf, mcp: Mcp) -> Self {
        Self {
            handle,
            cwd,
            mcp,
            waiting: Arc::default(),
        }
    }

    /// Delivers a message: at once, unless files must be read for it or an earlier one.
    pub(super) fn message(&self, kind: QueueKind, content: Vec<Content>) {
        self.send(Outgoing::Message(kind, content));
    }

    fn send(&self, outgoing: Outgoing) {
        let mut waiting = lock(&self.waiting);
        let content = outgoing.content();
        let is_plain = !mentions_files(content) && !mentions_resources(content);
        if waiting.messages.is_empty() && is_plain {
            outgoing.deliver(&self.handle);
            return;
        }
        waiting.messages.push_back(outgoing);
        if !waiting.is_read_for {
            waiting.is_read_for = true;
            let (handle, cwd) = (self.handle.clone(), self.cwd.clone());
            let (waiting, mcp) = (Arc::clone(&self.waiting), self.mcp.clone());
            tokio::spawn(read(waiting, handle, cwd, mcp));
        }
    }

    /// Answers a question: at once, unless pictures must be read for it.
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

    /// Delivers all waiting messages now, without their files, which the model's tools can read.
    /// For messages that can't wait but must not overtake others.
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

/// Reads the files of the waiting messages and delivers them, one by one.
async fn read(waiting: Arc<Mutex<Waiting>>, handle: AgentHandle, cwd: PathBuf, mcp: Mcp) {
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
        let read = match timeout(TIMEOUT, read).await {
            Ok(Ok((content, mut left_out))) => {
                let (content, others) = attach_resources(&mcp, content).await;
                left_out.extend(others);
                Some((content, left_out))
            }
            _ => None,
        };
        let mut waiting = lock(&waiting);
        // It may have left without its files.
        if waiting.left == number
            && let Some(mut outgoing) = waiting.next()
        {
            if let Some((content, left_out)) = read {
                *outgoing.content_mut() = content;
                if !left_out.is_empty() {
                    let text = format!(
                        "Not attached: {}. Type @ and choose the file to send it",
                        left_out.join(", ")
                    );
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
            Self::Message(_, content) | Self::Answer(.., content) => content,
        }
    }

    fn content_mut(&mut self) -> &mut Vec<Content> {
        match self {
            Self::Message(_, content) | Self::Answer(.., content) => content,
        }
    }

    fn deliver(self, handle: &AgentHandle) {
        match self {
            Self::Message(QueueKind::Steering, content) => handle.steer(content),
            Self::Message(QueueKind::FollowUp, content) => handle.follow_up(content),
            Self::Message(QueueKind::Trial, content) => handle.begin_trial(content),
            Self::Answer(id, answer, pictures) => {
                // Without attachments, the message would only repeat the answer.
                if pictures.len() > 1 {
                    handle.steer(pictures);
                }
                handle.answer(id, answer);
            }
        }
    }
}
