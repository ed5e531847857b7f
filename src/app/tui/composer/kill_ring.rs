//! What was killed, to be yanked.

use std::collections::VecDeque;

use super::placeholders::is_block;

/// Kills that are remembered.
const MAX_KILLS: usize = 60;

/// The last kills, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct KillRing {
    kills: VecDeque<String>,
    /// The kill a yank inserts; pops move it on.
    at: usize,
}

/// Which way a kill went from the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Left,
    Right,
}

impl KillRing {
    /// Remembers a kill as the newest.
    pub(super) fn push(&mut self, text: String) {
        self.at = 0;
        self.kills.push_front(text);
        self.kills.truncate(MAX_KILLS);
    }

    /// Makes a kill right after another one part of it.
    pub(super) fn extend(&mut self, text: String, direction: Direction) {
        self.at = 0;
        match (self.kills.front_mut(), direction) {
            (Some(newest), Direction::Right) => newest.push_str(&text),
            (Some(newest), Direction::Left) => newest.insert_str(0, &text),
            (None, _) => self.push(text),
        }
    }

    /// What a yank inserts.
    pub(super) fn current(&self) -> Option<&str> {
        self.kills.get(self.at).map(String::as_str)
    }

    /// Moves on to the kill before, from the oldest back to the newest.
    pub(super) fn rotate(&mut self) {
        self.at = (self.at + 1) % self.kills.len().max(1);
    }

    /// Whether any kill holds a block.
    pub(super) fn has_blocks(&self) -> bool {
        self.kills.iter().any(|kill| kill.contains(is_block))
    }
}
