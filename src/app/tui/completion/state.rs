//! The list while it is open.

use super::candidate::Candidate;
use crate::app::action::Action;
use crate::app::tui::text::width::width;

/// What the list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// Commands.
    Command,
    /// What may stand behind this command.
    Argument(Action),
    /// Files and folders of the project, found by their letters.
    File,
    /// What a folder holds.
    Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub kind: CompletionKind,
    /// What was typed, up to the caret: a choice takes its place.
    pub typed: String,
    /// What can take its place, best first.
    pub candidates: Vec<Candidate>,
    /// The chosen one; none where Enter sends what was typed as long as nobody chooses.
    pub selected: Option<usize>,
    pub moved: bool,
    /// Whether more may be found yet.
    pub waits: bool,
    /// Columns of the widest candidate that something stands behind, which all of them leave to it.
    pub columns: usize,
    /// What came from outside to choose from, whatever is typed; empty where candidates are made anew.
    pub known: Vec<Candidate>,
}

impl Completion {
    /// A list of these, the best of them chosen.
    pub fn new(kind: CompletionKind, typed: String, candidates: Vec<Candidate>) -> Self {
        let mut list = Self {
            kind,
            typed,
            candidates: Vec::new(),
            selected: Some(0),
            moved: false,
            waits: false,
            columns: 0,
            known: Vec::new(),
        };
        list.set(candidates);
        list
    }

    /// Takes other candidates in; what was chosen by key stays chosen while it is there.
    pub fn set(&mut self, candidates: Vec<Candidate>) {
        let chosen = self.chosen().map(|chosen| chosen.insert.clone());
        let place = chosen.filter(|_| self.moved).and_then(|chosen| {
            let mut places = candidates.iter();
            places.position(|candidate| candidate.insert == chosen)
        });
        self.moved = place.is_some();
        self.selected = self.selected.map(|_| place.unwrap_or(0));
        let described = candidates.iter().filter(|it| !it.is_alone());
        self.columns = described.map(|it| width(&it.label)).max().unwrap_or(0);
        self.candidates = candidates;
    }

    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected?)
    }

    /// Goes `by` rows down, or up, and round at the ends.
    pub fn go(&mut self, by: isize) {
        let count = self.candidates.len() as isize;
        if count == 0 {
            return;
        }
        let before = match self.selected {
            Some(at) => at as isize,
            None if by > 0 => -1,
            None => count,
        };
        let last = count - 1;
        let to = match before + by {
            _ if before == last && by > 0 => 0,
            _ if before == 0 && by < 0 => last,
            to => to.clamp(0, last),
        };
        self.choose(to as usize);
    }

    pub fn choose(&mut self, row: usize) {
        self.selected = Some(row);
        self.moved = true;
    }

    /// Whether the chosen one stands there already, letter for letter.
    pub fn is_typed(&self) -> bool {
        let typed = self.typed.trim_end();
        self.chosen()
            .is_some_and(|chosen| chosen.insert.trim_end() == typed)
    }
}
