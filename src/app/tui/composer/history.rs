//! Earlier prompts, as data. Their file is [`super::HistoryFile`].

use std::collections::HashSet;

/// Prompts that are remembered.
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
        let matches = move |entry: &str| {
            let entry = if words.is_empty() {
                String::new()
            } else {
                entry.to_lowercase()
            };
            words.iter().all(|word| entry.contains(word))
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn history(entries: &[&str]) -> History {
        let mut history = History::default();
        for entry in entries {
            history.push(entry);
        }
        history
    }

    fn found<'a>(history: &'a History, query: &str) -> Vec<&'a str> {
        let ages = history.search(query);
        ages.filter_map(|age| history.get(age)).collect()
    }

    fn all(history: &History) -> Vec<&str> {
        found(history, "")
    }

    #[test]
    fn each_text_is_remembered_once_where_it_was_used_last() {
        let mut history = history(&["a", "b", "a", "a", " \n", ""]);
        assert_eq!(all(&history), ["a", "b"]);
        assert_eq!(history.take_unsaved(), ["a", "b", "a"]);
        assert_eq!(history.take_unsaved(), [""; 0]);
        assert_eq!(history.get(1), Some("a"));
        assert_eq!(history.get(2), Some("b"));
        assert_eq!(history.get(3), None);
        assert_eq!(history.get(0), None);
    }

    #[test]
    fn what_the_file_held_is_older_than_what_was_typed() {
        let mut history = history(&["new", "both"]);
        history.merge(vec!["x".into(), "both".into(), "y".into(), "x".into()]);
        assert_eq!(all(&history), ["both", "new", "x", "y"]);
        assert_eq!(history.take_unsaved(), ["new", "both"]);
    }

    #[test]
    fn the_newest_prompts_are_kept() {
        let mut history = History::default();
        history.merge((0..MAX_ENTRIES + 5).map(|i| i.to_string()).collect());
        assert_eq!(history.len(), MAX_ENTRIES);
        assert_eq!(history.get(MAX_ENTRIES), Some("5"));
        history.push("new");
        assert_eq!(history.len(), MAX_ENTRIES);
        assert_eq!(history.get(1), Some("new"));
        assert_eq!(history.get(MAX_ENTRIES), Some("6"));
    }

    #[test]
    fn search_wants_every_word_in_any_case() {
        let history = history(&["Fix the login", "fix LOGIN again", "other", "ÄRGER"]);
        let found = |query| found(&history, query);
        assert_eq!(found("login fix"), ["fix LOGIN again", "Fix the login"]);
        assert_eq!(found("the"), ["other", "Fix the login"]);
        assert_eq!(found("ärger"), ["ÄRGER"]);
        assert_eq!(found("nothing"), [""; 0]);
    }
}
