//! Earlier prompts, as data. Their file is [`super::HistoryFile`].

use std::collections::HashSet;

use crate::app::fuzzy::Query;

/// Bytes of a prompt in which letters are looked for that do not stand together.
const MAX_SCATTERED: usize = 400;
/// What a letter is worth where those that were typed stand so far apart that nobody meant that.
const MIN_SCORE: u32 = 14;

pub(super) const MAX_ENTRIES: usize = 10_000;

/// Earlier prompts, each text once, where it was used last.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Oldest first.
    entries: Vec<String>,
    unsaved: Vec<String>,
}

impl History {
    /// Remembers a prompt as the newest. Blank text is not remembered.
    pub fn push(&mut self, text: &str) {
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return;
        }
        self.entries.retain(|entry| entry != text);
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(text.to_owned());
        self.unsaved.push(text.to_owned());
    }

    /// Adds what a history file held, oldest first, before everything remembered so far.
    pub fn merge(&mut self, older: Vec<String>) {
        let known = std::mem::take(&mut self.entries);
        let mut seen = HashSet::new();
        let mut newest_first: Vec<String> = known
            .into_iter()
            .rev()
            .chain(older.into_iter().rev())
            .filter(|entry| seen.insert(entry.clone()))
            .take(MAX_ENTRIES)
            .collect();
        newest_first.reverse();
        self.entries = newest_first;
    }

    /// What was pushed since the last call, oldest first: to be appended to the file.
    pub fn take_unsaved(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved)
    }

    /// The prompts that fit `query`, in any case, by their age: first those that hold every word, newest
    /// first, then those that begin with its letters in this order, best first.
    pub fn search(&self, query: &str) -> Vec<usize> {
        let mut query = Query::new(&query.to_lowercase());
        let enough = query.letters() as u32 * MIN_SCORE;
        let (mut found, mut scattered) = (Vec::new(), Vec::new());
        for age in 1..=self.entries.len() {
            let entry = self.get(age).unwrap_or_default().to_lowercase();
            if query.words().iter().all(|word| entry.contains(word)) {
                found.push(age);
                continue;
            }
            let start = &entry[..entry.floor_char_boundary(MAX_SCATTERED)];
            let fit = query.fit(age, start).filter(|fit| fit.score >= enough);
            scattered.extend(fit.map(|fit| (std::cmp::Reverse(fit.score), age)));
        }
        scattered.sort_unstable();
        found.extend(scattered.into_iter().map(|(_, age)| age));
        found
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A prompt by its age: 1 is the newest.
    pub fn get(&self, age: usize) -> Option<&str> {
        let index = self.entries.len().checked_sub(age)?;
        self.entries.get(index).map(String::as_str)
    }
}
