//! Browsing the prompt history: the draft is kept, and so are changes of the prompts on the way.

use std::collections::HashMap;

use super::history::History;

/// A walk under way.
#[derive(Clone, Debug)]
pub(super) struct Browse {
    /// The prompt shown: 1 is the newest, 0 the draft.
    age: usize,
    /// What prompts, and the draft as number 0, were changed to, with blocks as they are.
    changed: HashMap<usize, String>,
}

/// Which prompt a step of the walk goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Older,
    Newer,
}

/// What to show next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Text of this editor, with blocks.
    Own(String),
    /// A prompt as it was sent.
    Prompt(String),
}

impl Browse {
    /// A walk that begins at the draft.
    pub(super) fn new() -> Self {
        Self {
            age: 0,
            changed: HashMap::new(),
        }
    }

    /// Whether the walk is back where it began.
    pub(super) fn is_at_draft(&self) -> bool {
        self.age == 0
    }

    /// Goes one step, keeping what is shown now. `None` where there is nothing further.
    pub(super) fn go(&mut self, to: Age, now: String, history: &History) -> Option<Shown> {
        let age = match to {
            Age::Older if self.age < history.len() => self.age + 1,
            Age::Newer if self.age > 0 => self.age - 1,
            Age::Older | Age::Newer => return None,
        };
        self.changed.insert(self.age, now);
        self.age = age;
        Some(match self.changed.get(&age) {
            Some(text) => Shown::Own(text.clone()),
            None => Shown::Prompt(history.get(age).unwrap_or_default().to_owned()),
        })
    }
}
