//! Earlier prompts, as data. Their file is [`super::HistoryFile`].

use std::cmp::Reverse;
use std::collections::HashSet;

use memchr::memmem::Finder;

use crate::app::fuzzy::Query;
use crate::app::keys::without_keys;

/// Fuzzy search is slow, so it covers only the newest prompts and the first bytes of each.
const MAX_SCATTERED: usize = 200;
const MAX_SEARCHED: usize = 2000;
/// The score per letter below which letters are too scattered to be a real match.
const MIN_SCORE: u32 = 14;

pub(super) const MAX_ENTRIES: usize = 10_000;

/// Earlier prompts. Each text is in it once, at its latest use.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Oldest first.
    entries: Vec<Prompt>,
    unsaved: Vec<String>,
    /// Rises with every change of the entries.
    revision: u64,
}

#[derive(Clone, Debug)]
struct Prompt {
    text: String,
    /// In lower case, if that differs.
    lower: Option<String>,
}

/// All matches of an earlier search: a longer query can match only these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Narrowing {
    query: String,
    revision: u64,
    ages: Vec<usize>,
}

impl Prompt {
    fn new(text: String) -> Self {
        let lower = Some(text.to_lowercase()).filter(|lower| *lower != text);
        Self { text, lower }
    }

    fn lower(&self) -> &str {
        self.lower.as_deref().unwrap_or(&self.text)
    }
}

impl History {
    /// The contents of a history file, oldest first. Takes time linear in its size.
    pub fn new(texts: Vec<String>) -> Self {
        let mut seen = HashSet::new();
        let is_new: Vec<bool> = texts.iter().rev().map(|text| seen.insert(text)).collect();
        let newest_first = texts.into_iter().rev().zip(is_new);
        let mut entries: Vec<Prompt> = newest_first
            .filter_map(|(text, is_new)| is_new.then(|| Prompt::new(text)))
            .take(MAX_ENTRIES)
            .collect();
        entries.reverse();
        Self {
            entries,
            ..Self::default()
        }
    }

    /// Remembers a prompt as the newest. Skips blank text and removes keys.
    pub fn push(&mut self, text: &str) {
        let text = without_keys(text.to_owned());
        let is_last = self.entries.last().is_some_and(|last| last.text == text);
        if text.trim().is_empty() || is_last {
            return;
        }
        self.entries.retain(|entry| entry.text != text);
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(Prompt::new(text.clone()));
        self.unsaved.push(text);
        self.revision += 1;
    }

    /// Adds the prompts of a history file before everything remembered so far.
    pub fn merge(&mut self, older: Self) {
        let known = std::mem::replace(&mut self.entries, older.entries);
        self.entries
            .retain(|entry| known.iter().all(|known| known.text != entry.text));
        self.entries.extend(known);
        let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..surplus);
        self.revision += 1;
    }

    /// The prompts pushed since the last call, oldest first, for the file.
    pub fn take_unsaved(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved)
    }

    /// The ages of the prompts that match `query`, ignoring case: first those with every word,
    /// newest first, then fuzzy matches, best first.
    pub fn search(&self, query: &str, narrowing: &mut Narrowing) -> Vec<usize> {
        let query = query.to_lowercase();
        let goes_on = narrowing.revision == self.revision && query.starts_with(&narrowing.query);
        let candidates = match std::mem::take(&mut narrowing.ages) {
            ages if goes_on && !narrowing.query.is_empty() => ages,
            _ => (1..=self.entries.len()).collect(),
        };
        let mut letters = Query::new(&query);
        let enough = letters.letters() as u32 * MIN_SCORE;
        let words: Vec<_> = query.split_whitespace().map(Finder::new).collect();
        let (mut found, mut scattered) = (Vec::new(), Vec::new());
        for age in candidates {
            let Some(entry) = self.entry(age).map(Prompt::lower) else {
                continue;
            };
            let holds = |word: &Finder<'_>| word.find(entry.as_bytes()).is_some();
            if words.iter().all(holds) {
                found.push(age);
            } else {
                let start = &entry[..entry.floor_char_boundary(MAX_SCATTERED)];
                let fit = (age <= MAX_SEARCHED).then(|| letters.fit(age, start));
                let Some(fit) = fit.flatten() else {
                    continue;
                };
                scattered.extend((fit.score >= enough).then_some((Reverse(fit.score), age)));
            }
            narrowing.ages.push(age);
        }
        narrowing.query = query;
        narrowing.revision = self.revision;
        scattered.sort_unstable();
        found.extend(scattered.into_iter().map(|(_, age)| age));
        found
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A prompt by its age: 1 is the newest.
    pub fn get(&self, age: usize) -> Option<&str> {
        self.entry(age).map(|entry| entry.text.as_str())
    }

    fn entry(&self, age: usize) -> Option<&Prompt> {
        self.entries.get(self.entries.len().checked_sub(age)?)
    }
}
