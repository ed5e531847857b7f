//! Turns the live end of the conversation into pages. A stretch of cells ends with a turn; once the
//! session file holds its entries, its cells can be unloaded like any stored page. It counts
//! announced entries, because the agent stores each one before announcing it.

use std::ops::Range;

use super::pages::{BYTES, ENTRIES};
use crate::agent::event::{AgentEvent, CompactionOutcome};
use crate::agent::session::SessionBranch;
use crate::agent::session::entry::Kind;
use crate::llm::message::content_text;
use crate::llm::{Content, Message};

/// Seal this many stretches, or bytes of them, at a time, to read the branch less often.
const AT_A_TIME: usize = 8;
const BYTES_AT_A_TIME: u64 = AT_A_TIME as u64 * BYTES;

/// The live end of the conversation, as stored entries.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveEnd {
    /// The index of its first entry in the branch.
    first: usize,
    kinds: Vec<Kind>,
    /// Bytes of their texts and pictures, roughly.
    bytes: u64,
    ended: Vec<Stretch>,
    ended_bytes: u64,
    asked: bool,
}

/// A page of cells and the entries expected for it.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub page: usize,
    first: usize,
    kinds: Vec<Kind>,
}

impl LiveEnd {
    pub fn of(branch: &SessionBranch, entries: Range<usize>) -> Self {
        Self {
            first: entries.start,
            bytes: entries.clone().map(|entry| branch.length(entry)).sum(),
            kinds: entries.map(|entry| branch.kind(entry)).collect(),
            ..Self::default()
        }
    }

    /// How many entries of `branch` were announced, if it starts with these.
    pub fn announced(&self, branch: &SessionBranch) -> Option<usize> {
        let end = self.first + self.kinds.len();
        let mut live = (self.first..end).zip(&self.kinds);
        let is_same = end <= branch.len() && live.all(|(entry, kind)| branch.kind(entry) == *kind);
        is_same.then_some(end)
    }

    /// Adds up the entries that `event` announces. Returns whether the stretch can end here.
    pub fn count(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::MessageEnd { message } => {
                self.kinds.push(match **message {
                    Message::User(_) => Kind::User,
                    Message::Assistant(_) => Kind::Assistant,
                    Message::ToolResult(_) => Kind::ToolResult,
                });
                self.bytes += bytes_of(message.content());
            }
            AgentEvent::CompactionEnd {
                outcome: CompactionOutcome::Done { .. },
                ..
            } => self.kinds.push(Kind::Compaction),
            AgentEvent::AgentEnd { .. } => self.kinds.push(Kind::RunEnd),
            // Its results are stored.
            AgentEvent::TurnEnd { .. } => {
                return self.kinds.len() >= ENTRIES || self.bytes >= BYTES;
            }
            _ => {}
        }
        false
    }

    pub fn end(&mut self, page: usize) {
        let kinds = std::mem::take(&mut self.kinds);
        let first = self.first;
        self.first += kinds.len();
        self.ended_bytes += std::mem::take(&mut self.bytes);
        self.ended.push(Stretch { page, first, kinds });
    }

    /// Whether to read the branch now, to seal finished stretches. Asks once.
    pub fn asks(&mut self) -> bool {
        let many = self.ended.len() >= AT_A_TIME || self.ended_bytes >= BYTES_AT_A_TIME;
        let asks = many && !self.asked;
        self.asked |= asks;
        asks
    }

    /// The stretches whose entries are in the file of `branch`, with their ranges.
    pub fn sealed(&mut self, branch: &SessionBranch) -> Vec<(usize, Range<usize>)> {
        self.asked = false;
        self.ended_bytes = 0;
        let ended = std::mem::take(&mut self.ended).into_iter();
        // A stretch that differs from what was announced stays in memory.
        let sealed = ended.filter(|it| it.stands_in(branch));
        sealed.map(|it| (it.page, it.entries())).collect()
    }
}

/// Bytes of texts and pictures in `content`.
fn bytes_of(content: &[Content]) -> u64 {
    let pictures = content.iter().map(|block| match block {
        Content::Image(image) => image.data.len(),
        _ => 0,
    });
    (content_text(content).len() + pictures.sum::<usize>()) as u64
}

impl Stretch {
    fn entries(&self) -> Range<usize> {
        self.first..self.first + self.kinds.len()
    }

    fn stands_in(&self, branch: &SessionBranch) -> bool {
        let entries = self.entries();
        entries.end <= branch.len()
            && entries
                .zip(&self.kinds)
                .all(|(entry, kind)| branch.kind(entry) == *kind && branch.is_in_file(entry))
    }
}
