//! The parts of every popup with a list: a list to choose from, and a text to read. Plain data.

use crate::app::action::Action;
use crate::app::fuzzy::Query;

/// Maximum characters of a query, since a paste can have any size.
const MAX_QUERY: usize = 200;

/// A list to choose from: the query, the matching entries, and the selected one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picker {
    query: String,
    /// Whether the text typed next replaces the query.
    is_replaced: bool,
    matches: Vec<usize>,
    selected: usize,
    /// Which entries are headings, if any.
    headings: Vec<bool>,
}

impl Picker {
    /// Creates a line that contains `text`; `None` if it's too long.
    pub fn holding(text: &str) -> Option<Self> {
        let mut line = Self::default();
        line.type_text(text);
        (line.query == text).then_some(line)
    }

    /// The same line; whether the text typed next replaces it.
    pub fn replaced(self, is_replaced: bool) -> Self {
        Self {
            is_replaced,
            ..self
        }
    }

    pub fn query(&self) -> &str {
        &self.query
    }

    /// Whether a text contains all words of the query, ignoring case.
    pub fn holds(&self) -> impl Fn(&str) -> bool + use<> {
        let query = self.query.to_lowercase();
        move |text: &str| {
            let mut words = query.split_whitespace().peekable();
            // An empty query needs no look at the text.
            let text = words
                .peek()
                .map(|_| text.to_lowercase())
                .unwrap_or_default();
            words.all(|word| text.contains(word))
        }
    }

    pub fn matches(&self) -> &[usize] {
        &self.matches
    }

    pub fn selected(&self) -> usize {
        self.selected
    }

    pub fn chosen(&self) -> Option<usize> {
        self.matches.get(self.selected).copied()
    }

    pub fn set_matches(&mut self, matches: Vec<usize>, selected: usize) {
        self.matches = matches;
        self.select(selected);
    }

    /// Finds the matches among `rows`: those with the words, or else those with only the letters.
    pub fn find(&mut self, rows: impl Iterator<Item = String>) {
        let mut query = Query::new(&self.query);
        let mut found: Vec<_> = rows
            .enumerate()
            .filter_map(|(at, row)| query.fit(at, &row))
            .collect();
        if found.iter().any(|it| !it.scattered) {
            found.retain(|it| !it.scattered);
        }
        self.set_matches(found.into_iter().map(|it| it.row).collect(), 0);
    }

    pub fn set_headings(&mut self, headings: Vec<bool>) {
        self.headings = headings;
    }

    /// Selects a match. From a heading it moves on to the next match in the same direction.
    pub fn select(&mut self, selected: usize) {
        let before = self.selected;
        self.selected = selected.min(self.matches.len().saturating_sub(1));
        let is_heading = |entry| self.headings.get(entry) == Some(&true);
        if self.chosen().is_some_and(is_heading) {
            let is_up = self.selected < before && self.selected > 0;
            self.selected = if is_up {
                self.selected - 1
            } else {
                self.selected + 1
            };
        }
    }

    /// Moves `by` matches, down if positive, and stops at the ends.
    pub fn go(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// Adds to the query as much as there is room for.
    pub fn type_text(&mut self, text: &str) {
        if std::mem::take(&mut self.is_replaced) {
            self.query.clear();
        }
        let room = MAX_QUERY.saturating_sub(self.query.chars().count());
        let typed = text.chars().filter(|c| !c.is_control());
        self.query.extend(typed.take(room));
    }

    /// Handles a key: moves by up to `page` entries, or edits. Returns whether the query changed.
    pub fn press(&mut self, action: Option<Action>, text: Option<char>, page: usize) -> bool {
        self.is_replaced &= action.is_none();
        match (action, text) {
            (Some(Action::DeleteBackward), _) => drop(self.query.pop()),
            (Some(Action::CutWordBackward | Action::CutToSpaceBackward), _) => {
                let kept = self.query.trim_end();
                let end = kept.rfind(' ').map_or(0, |at| at + 1);
                self.query.truncate(end);
            }
            (Some(Action::CutToStart), _) => self.query.clear(),
            (None, Some(c)) => self.type_text(c.encode_utf8(&mut [0; 4])),
            _ => {
                if let Some(by) = rows(action, page) {
                    self.go(by);
                }
                return false;
            }
        }
        true
    }
}

/// Number of rows a key moves by, down if positive; `None` if it doesn't move.
fn rows(action: Option<Action>, page: usize) -> Option<isize> {
    let page = page as isize;
    Some(match action? {
        Action::Up | Action::ListPrevious => -1,
        Action::Down | Action::ListNext => 1,
        Action::PageUp => -page,
        Action::PageDown | Action::PagerNext => page,
        Action::ScrollTop | Action::LineStart => isize::MIN,
        Action::ScrollBottom | Action::LineEnd => isize::MAX,
        _ => return None,
    })
}

/// Lines per page in a pager.
pub const PAGE: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pager {
    pub top: usize,
}

impl Pager {
    /// Scrolls by lines, down if positive. `end` is the last possible top line in the last frame.
    pub fn go(&mut self, by: isize, end: usize) {
        self.top = self.top.min(end).saturating_add_signed(by).min(end);
    }

    pub fn press(&mut self, action: Option<Action>, page: usize, end: usize) {
        if let Some(by) = rows(action, page) {
            self.go(by, end);
        }
    }

    /// Whether the action closes a page to read.
    pub fn closes(action: Action) -> bool {
        matches!(
            action,
            Action::Back | Action::Help | Action::Accept | Action::Interrupt | Action::Quit
        )
    }
}
