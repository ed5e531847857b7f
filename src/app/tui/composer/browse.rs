//! Browsing the prompt history; keeps the draft and edits to the prompts on the way.

use std::collections::{BTreeMap, HashMap};

use super::draft::Draft;
use super::history::History;
use super::placeholders::clean;

#[derive(Clone, Debug, Default)]
pub(super) struct Browse {
    /// The prompt shown: 1 is the newest, 0 the draft.
    age: usize,
    /// Whether the draft is a message that came back from the queue.
    pub is_message: bool,
    /// Edited prompts by number (0 is the draft), with their placeholders.
    changed: HashMap<usize, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Older,
    Newer,
}

impl Browse {
    /// Starts browsing; the draft may be a message that came back.
    pub(super) fn from_draft(is_message: bool) -> Self {
        Self {
            is_message,
            ..Self::default()
        }
    }

    pub(super) fn is_at_draft(&self) -> bool {
        self.age == 0
    }

    /// The draft, with its placeholders, while something else is shown.
    pub(super) fn draft(&self) -> Option<&str> {
        let draft = self.changed.get(&0).filter(|_| self.age > 0)?;
        (!draft.is_empty()).then_some(draft.as_str())
    }

    /// The edited prompts, oldest first, with or without the one in the editor.
    pub(super) fn edited(&self, draft: &Draft, history: &History, with_shown: bool) -> Vec<String> {
        let hidden = self.changed.iter().filter(|(age, _)| **age != self.age);
        let hidden = hidden.map(|(age, text)| (*age, text.as_str()));
        let shown = with_shown.then(|| (self.age, draft.text()));
        let expand = |(age, text)| (age, draft.placeholders.expand(text));
        let is_edited = |(age, text): &(usize, String)| {
            !text.is_empty() && history.get(*age).is_some_and(|it| clean(it) != *text)
        };
        let edited = hidden.chain(shown).map(expand).filter(is_edited);
        let edited: BTreeMap<_, _> = edited.collect();
        edited.into_values().rev().collect()
    }

    /// Goes one step and keeps the shown text. Returns the text to show, or `None` at the end.
    pub(super) fn go(&mut self, to: Age, draft: &Draft, history: &History) -> Option<String> {
        let age = match to {
            Age::Older if self.age < history.len() => self.age + 1,
            Age::Newer if self.age > 0 => self.age - 1,
            Age::Older | Age::Newer => return None,
        };
        self.changed.insert(self.age, draft.text().to_owned());
        self.age = age;
        let unchanged = || {
            let text = clean(history.get(age).unwrap_or_default());
            draft.placeholders.fold(text)
        };
        Some(self.changed.get(&age).cloned().unwrap_or_else(unchanged))
    }
}
