//! The list of sessions as plain data: all of them, the matches, the preview of the chosen one, and its
//! renaming or removal.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::picker::Picker;
use crate::agent::session::{Found, SessionState};
use crate::app::sessions::{SessionFacts, SessionRow, SessionScope, search_rows};
use crate::app::tui::answer_delay::AnswerDelay;

/// How long after the last key the text of the sessions is searched, in milliseconds.
const SEARCH_MS: i64 = 150;
/// How long a row is chosen before its session is read.
const PREVIEW_MS: i64 = 60;
/// How often it is looked what the open ones are doing.
const STATES_MS: i64 = 1000;
/// Characters that are too few to search all text for.
const SHORT_QUERY: usize = 2;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPicker {
    pub picker: Picker,
    pub scope: SessionScope,
    /// All that can be opened; none until they were read.
    pub rows: Option<Vec<SessionRow>>,
    /// Where the text of a session has the words that are typed.
    pub found: HashMap<PathBuf, Found>,
    pub search: TextSearch,
    pub preview: Option<Preview>,
    pub mode: SessionMode,
    /// Why the last operation failed; until the next key.
    pub error: Option<String>,
    /// When something is to be read (Unix ms).
    pub due: Due,
    pub any_open: bool,
    /// The most sessions since it was opened: the box keeps its height.
    pub tallest: usize,
}

/// A search through the text of all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextSearch {
    /// Nothing is searched for.
    #[default]
    None,
    /// It is under way.
    Running,
    /// All were searched.
    Done,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionMode {
    #[default]
    Choosing,
    Naming(Picker),
    /// Enter moves the chosen one to the trash, once there was time to read that.
    Removing(AnswerDelay),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub path: PathBuf,
    pub facts: Result<Arc<SessionFacts>, String>,
}

/// When something is to be read (Unix ms); none when it was, or need not be.
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

    /// The query changed: finds the sessions by name now, and by their text later.
    pub fn search(&mut self, now: i64) {
        self.found.clear();
        self.search = TextSearch::None;
        let long = self.picker.query().trim().chars().count() >= SHORT_QUERY;
        self.due.search = long.then_some(now + SEARCH_MS);
        self.arrange(None, now);
    }

    /// The text of more sessions was searched for `query`.
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
        self.arrange(self.chosen_path(), now);
    }

    pub fn set_states(&mut self, states: &HashMap<PathBuf, SessionState>, now: i64) {
        for row in self.rows.iter_mut().flatten() {
            let state = states.get(&row.path).copied();
            row.state = state.unwrap_or(SessionState::Closed);
        }
        self.any_open = self.rows.iter().flatten().any(SessionRow::is_open);
        self.due.states = Some(now + STATES_MS);
    }

    /// The session in the file at `path` has another name. Another one may be chosen by now.
    pub fn set_name(&mut self, path: &Path, name: Option<String>, now: i64) {
        let chosen = self.chosen_path();
        let mut rows = self.rows.iter_mut().flatten();
        if let Some(row) = rows.find(|row| row.path == path) {
            row.name = name;
        }
        self.arrange(chosen, now);
    }

    /// The session in the file at `path` is gone. Meanwhile the user may have chosen another one.
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

    /// Another row may be chosen: what is known of its session is shown soon.
    pub fn look(&mut self, now: i64) {
        let known = self.preview.as_ref().map(|preview| &preview.path);
        let chosen = self.chosen().map(|row| &row.path);
        self.due.preview = (chosen.is_some() && chosen != known).then_some(now + PREVIEW_MS);
    }

    pub fn chosen(&self) -> Option<&SessionRow> {
        self.rows.as_ref()?.get(self.picker.chosen()?)
    }

    fn chosen_path(&self) -> Option<PathBuf> {
        self.chosen().map(|row| row.path.clone())
    }

    /// Sorts the matching rows. Those with the words in name, title or folder come first, then those
    /// with the words in their text, then those with only the letters; the newest first in each. The
    /// session at `chosen` stays chosen.
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
