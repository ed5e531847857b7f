//! Earlier prompts, as data. Their file is [`super::HistoryFile`].

use std::collections::HashSet;

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

    /// The prompts that contain every word of `query`, in any case, newest first, by their age.
    pub fn search(&self, query: &str) -> impl Iterator<Item = usize> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let matches = move |entry: &str| words.is_empty() || has_all(entry, &words);
        (1..=self.entries.len()).filter(move |age| self.get(*age).is_some_and(&matches))
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

fn has_all(entry: &str, words: &[String]) -> bool {
    let entry = entry.to_lowercase();
    words.iter().all(|word| entry.contains(word))
}
