//! Undo and redo steps.

use std::collections::VecDeque;

const MAX_STEPS: usize = 1000;
/// Bytes of text to remember; the newest step always stays.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The most characters that typing or deleting puts into one step.
const MAX_RUN: usize = 500;

#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    done: VecDeque<Step>,
    pub(super) undone: Vec<Step>,
    /// The last step is closed: something else happened since.
    sealed: bool,
    bytes: usize,
    recorded: u64,
}

/// One replacement at a byte offset.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub at: usize,
    pub removed: String,
    pub inserted: String,
    pub caret_before: usize,
    pub kind: StepKind,
    /// The number of the step, assigned when it's recorded.
    pub number: u64,
    /// Whether it's undone together with the one before.
    pub joined: bool,
}

/// Whether consecutive steps of a kind are undone together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Consecutively typed characters, up to the next word.
    Typing,
    /// Consecutively deleted characters.
    Erasing,
    /// Anything else.
    Single,
}

impl Undo {
    pub(super) fn record(&mut self, mut step: Step) {
        self.undone.clear();
        self.recorded += 1;
        step.number = self.recorded;
        self.bytes += step.bytes();
        let joined = !self.sealed && self.done.back_mut().is_some_and(|last| last.take_in(&step));
        if !joined {
            self.done.push_back(step);
        }
        self.sealed = false;
        while self.done.len() > MAX_STEPS || (self.bytes > MAX_BYTES && self.done.len() > 1) {
            self.bytes -= self.done.pop_front().map_or(0, |step| step.bytes());
        }
    }

    /// A mark before everything recorded from now on.
    pub(super) fn mark(&self) -> u64 {
        self.recorded
    }

    /// Joins everything recorded since a mark into one step.
    pub(super) fn join(&mut self, mark: u64) {
        let since = self.done.iter_mut().filter(|step| step.number > mark);
        since.skip(1).for_each(|step| step.joined = true);
        self.sealed = true;
    }

    /// Starts a new step.
    pub(super) fn seal(&mut self) {
        self.sealed = true;
    }

    pub(super) fn undo(&mut self) -> Option<&Step> {
        let step = self.done.pop_back()?;
        self.sealed = true;
        self.bytes -= step.bytes();
        self.undone.push(step);
        self.undone.last()
    }

    pub(super) fn redo(&mut self) -> Option<&Step> {
        let step = self.undone.pop()?;
        self.bytes += step.bytes();
        self.done.push_back(step);
        self.done.back()
    }
}

impl Step {
    fn bytes(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }

    /// Merges the next step into this one, if they belong together.
    fn take_in(&mut self, next: &Self) -> bool {
        if self.kind != next.kind || self.bytes() > MAX_RUN {
            return false;
        }
        match self.kind {
            StepKind::Typing => {
                let goes_on = self.at + self.inserted.len() == next.at;
                let new_word = self.inserted.ends_with(char::is_whitespace)
                    && !next.inserted.starts_with(char::is_whitespace);
                if goes_on && !new_word {
                    self.inserted.push_str(&next.inserted);
                }
                goes_on && !new_word
            }
            StepKind::Erasing if next.at == self.at => {
                self.removed.push_str(&next.removed);
                true
            }
            StepKind::Erasing if next.at + next.removed.len() == self.at => {
                self.removed.insert_str(0, &next.removed);
                self.at = next.at;
                true
            }
            StepKind::Erasing | StepKind::Single => false,
        }
    }
}
