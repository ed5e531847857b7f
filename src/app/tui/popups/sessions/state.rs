//! The list of sessions as plain data: all sessions, the matches, the preview of the selected one, and
//! its renaming or removal.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::session::{Found, SessionState};
use crate::app::sessions::{SessionFacts, SessionRow, SessionScope, search_rows};
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::popups::Picker;

/// Delay from the last key to a search in the text of the sessions (ms).
const SEARCH_MS: i64 = 150;
/// Delay from selecting a row to reading its session (ms).
const PREVIEW_MS: i64 = 60;
/// Interval for checking the state of open sessions (ms).
const STATES_MS: i64 = 1000;
/// Minimum characters of a query to search all text.
const SHORT_QUERY: usize = 2;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPicker {
    pub picker: Picker,
    pub scope: SessionScope,
    /// All sessions that can be opened; `None` until they are read.
    pub rows: Option<Vec<SessionRow>>,
    /// Matches of the query in the text of sessions.
    pub found: HashMap<PathBuf, Found>,
    pub search: TextSearch,
    pub preview: Option<Preview>,
    pub mode: SessionMode,
    /// Why the last operation failed, until the next key.
    pub error: Option<String>,
    pub due: Due,
    pub any_open: bool,
    /// The most sessions since it was opened, so that the box keeps its height.
    pub tallest: usize,
}

/// A search through the text of all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextSearch {
    /// Not searching.
    #[default]
    None,
    /// Searching.
    Running,
    /// Finished.
    Done,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionMode {
    #[default]
    Choosing,
    /// Enter gives the session in this file the typed name.
    Naming(PathBuf, Picker),
    /// Enter moves the session in this file to the trash, after time to read the question.
    Removing(PathBuf, AnswerDelay),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub path: PathBuf,
    pub facts: Result<Arc<SessionFacts>, String>,
}

/// When to read something (Unix ms); `None` if nothing needs reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    pub search: Option<i64>,
    pub preview: Option<i64>,
    pub states: Option<i64>,
}

impl Due {
    pub fn next(&self) -> Option<i64> {
        let all = [self.search, self.preview, self.states];
        all.into_iter().flatten().min()
    }
}

impl SessionPicker {
    pub fn set_rows(&mut self, rows: Vec<SessionRow>, now: i64) {
        let chosen = self.chosen_path();
        self.tallest = self.tallest.max(rows.len());
        self.any_open = rows.iter().any(SessionRow::is_open);
        self.rows = Some(rows);
        self.due.states = Some(now + STATES_MS);
        self.arrange(chosen, now);
    }

    /// Applies a changed query: searches names now, and text later.
    pub fn search(&mut self, now: i64) {
        self.found.clear();
        self.search = TextSearch::None;
        let long = self.picker.query().trim().chars().count() >= SHORT_QUERY;
        self.due.search = long.then_some(now + SEARCH_MS);
        self.arrange(None, now);
    }

    /// Adds sessions whose text matches `query`.
    pub fn add_found(
        &mut self,
        query: &str,
        found: Vec<(PathBuf, Found)>,
        search: TextSearch,
        now: i64,
    ) {
        if query != self.picker.query() {
            return;
        }
        self.found.extend(found);
        self.search = search;
        // The best match stays selected, unless the user has chosen a row or tiller asks about one.
        let is_picked = self.picker.selected() > 0 || self.mode != SessionMode::Choosing;
        let chosen = self.chosen_path().filter(|_| is_picked);
        self.arrange(chosen, now);
    }

    pub fn set_states(&mut self, states: &HashMap<PathBuf, SessionState>, now: i64) {
        for row in self.rows.iter_mut().flatten() {
            let state = states.get(&row.path).copied();
            row.state = state.unwrap_or(SessionState::Closed);
        }
        self.any_open = self.rows.iter().flatten().any(SessionRow::is_open);
        self.due.states = Some(now + STATES_MS);
    }

    /// Renames the session in the file at `path`. Another one may be selected by now.
    pub fn set_name(&mut self, path: &Path, name: Option<String>, now: i64) {
        let chosen = self.chosen_path();
        let mut rows = self.rows.iter_mut().flatten();
        if let Some(row) = rows.find(|row| row.path == path) {
            row.name = name;
        }
        self.arrange(chosen, now);
    }

    /// Removes the session in the file at `path`. The user may have selected another one meanwhile.
    pub fn remove(&mut self, path: &Path, now: i64) {
        let selected = self.picker.selected();
        let chosen = self.chosen_path().filter(|chosen| chosen != path);
        let stays = chosen.is_some();
        if let Some(rows) = &mut self.rows {
            rows.retain(|row| row.path != path);
        }
        self.arrange(chosen, now);
        if !stays {
            self.picker.select(selected);
            self.look(now);
        }
    }

    /// Schedules the preview of the selected session, if it changed.
    pub fn look(&mut self, now: i64) {
        let known = self.preview.as_ref().map(|preview| &preview.path);
        let chosen = self.chosen().map(|row| &row.path);
        self.due.preview = (chosen.is_some() && chosen != known).then_some(now + PREVIEW_MS);
    }

    /// The label of the session in the file at `path`, if it's listed.
    pub fn label_of(&self, path: &Path) -> &str {
        let mut rows = self.rows.iter().flatten();
        let row = rows.find(|row| row.path == path);
        row.map_or("", SessionRow::label)
    }

    pub fn chosen(&self) -> Option<&SessionRow> {
        self.rows.as_ref()?.get(self.picker.chosen()?)
    }

    fn chosen_path(&self) -> Option<PathBuf> {
        self.chosen().map(|row| row.path.clone())
    }

    /// Sorts the matching rows: the words in name, title or folder first, then in the text, then
    /// only the letters. Within each group the newest comes first. The session at `chosen` stays
    /// selected.
    fn arrange(&mut self, chosen: Option<PathBuf>, now: i64) {
        let rows = self.rows.as_deref().unwrap_or_default();
        let fitting = search_rows(rows, self.picker.query(), self.scope).into_iter();
        let fitting = fitting.map(|fit| {
            let (rank, score) = if fit.scattered {
                (2, fit.score)
            } else {
                (0, 0)
            };
            (rank, Reverse(score), fit.row)
        });
        let by_text = rows.iter().enumerate();
        let by_text = by_text.filter(|(_, row)| self.found.contains_key(&row.path));
        let by_text = by_text.map(|(row, _)| (1, Reverse(0), row));
        let mut order: Vec<_> = fitting.chain(by_text).collect();
        order.sort_unstable();
        let mut listed = HashSet::new();
        let order = order.into_iter().map(|(_, _, row)| row);
        let matches: Vec<usize> = order.filter(|row| listed.insert(*row)).collect();
        let selected =
            chosen.and_then(|path| matches.iter().position(|row| rows[*row].path == path));
        self.picker.set_matches(matches, selected.unwrap_or(0));
        self.look(now);
    }
}
