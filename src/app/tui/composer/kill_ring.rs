//! The kill ring: deleted text that can be yanked.

use std::collections::VecDeque;

use super::placeholders::is_placeholder;

const MAX_KILLS: usize = 60;

/// The last kills, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct KillRing {
    kills: VecDeque<String>,
    /// The kill that a yank inserts; each pop moves it on.
    at: usize,
}

impl KillRing {
    pub(super) fn push(&mut self, text: String) {
        self.at = 0;
        self.kills.push_front(text);
        self.kills.truncate(MAX_KILLS);
    }

    /// Appends a kill to the newest one.
    pub(super) fn append(&mut self, text: &str) {
        self.at = 0;
        if let Some(newest) = self.kills.front_mut() {
            newest.push_str(text);
        }
    }

    /// Prepends a kill to the newest one.
    pub(super) fn prepend(&mut self, text: &str) {
        self.at = 0;
        if let Some(newest) = self.kills.front_mut() {
            newest.insert_str(0, text);
        }
    }

    pub(super) fn current(&self) -> Option<&str> {
        self.kills.get(self.at).map(String::as_str)
    }

    /// Moves on to the previous kill, from the oldest back to the newest.
    pub(super) fn rotate(&mut self) {
        self.at = (self.at + 1) % self.kills.len().max(1);
    }

    pub(super) fn has_placeholders(&self) -> bool {
        self.kills.iter().any(|kill| kill.contains(is_placeholder))
    }
}
