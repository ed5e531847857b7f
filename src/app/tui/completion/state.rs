//! The open completion list.

use super::candidate::Candidate;
use crate::app::action::Action;
use crate::app::tui::text::width::width;

/// The thing that the list completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// Commands.
    Command,
    /// Arguments of this command.
    Argument(Action),
    /// Files and folders of the project, by fuzzy search.
    File,
    /// The contents of a folder.
    Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub kind: CompletionKind,
    /// The typed text before the caret, which a choice replaces.
    pub typed: String,
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// The selected candidate; if `None`, Enter sends the text as typed.
    pub selected: Option<usize>,
    pub moved: bool,
    /// Whether more results may come.
    pub waits: bool,
    /// The widest label with a detail after it, in columns; all rows align to it.
    pub columns: usize,
    /// Candidates that an effect loaded, independent of the typed text; empty if there are none.
    pub known: Vec<Candidate>,
}

impl Completion {
    /// A list of these, with the best selected.
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

    /// Replaces the candidates; keeps the user's selection if it's still there.
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

    /// Moves `by` rows, wrapping around.
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

    /// Whether the typed text already equals the selected candidate.
    pub fn is_typed(&self) -> bool {
        let typed = self.typed.trim_end();
        self.chosen()
            .is_some_and(|chosen| chosen.insert.trim_end() == typed)
    }
}
