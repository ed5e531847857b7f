//! The list of models as plain data: all of them, the matches and their order.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::app::fuzzy::Match;
use crate::app::models::{KeyState, ModelEntry, ModelList, search};
use crate::app::tui::popups::Picker;
use crate::llm::Model;

/// The models last read, and those used.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelsState {
    /// Empty until the list is opened for the first time.
    pub listing: Arc<ModelList>,
    pub(crate) is_read: bool,
    /// Problems with `models.toml` found since the list was opened.
    pub error: Option<String>,
    /// The models of this session, the latest first.
    pub used: Vec<Arc<Model>>,
    /// The model the session began with.
    pub default: Arc<Model>,
}

impl ModelsState {
    /// Creates the state, which knows only the session's first model.
    pub fn new(default: Arc<Model>) -> Self {
        Self {
            listing: Arc::default(),
            is_read: false,
            error: None,
            used: vec![Arc::clone(&default)],
            default,
        }
    }

    /// Makes `model` the current one.
    pub fn use_now(&mut self, model: &Arc<Model>) {
        self.used.retain(|used| !same(used, model));
        self.used.insert(0, Arc::clone(model));
    }
}

/// The open list. Its matches are rows of the listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPicker {
    /// The query and the matches.
    pub picker: Picker,
    /// Whether to list models without a key too.
    pub all: bool,
    /// The number of matching models hidden because they have no key.
    pub hidden: usize,
}

impl ModelPicker {
    /// Searches again and selects the best match.
    pub fn search(&mut self, models: &ModelsState) {
        let matches = self.matches(models);
        self.picker.set_matches(matches, 0);
    }

    /// Applies a new listing. The selected model stays selected if it still exists.
    pub fn refresh(&mut self, before: &ModelList, models: &ModelsState) {
        let selected = self.picker.selected();
        let chosen = self.entry(before);
        let matches = self.matches(models);
        let place = chosen.and_then(|chosen| {
            let model = |entry: usize| models.listing.rows.get(entry).map(|entry| &entry.model);
            let is_chosen =
                |entry: &usize| model(*entry).is_some_and(|model| same(model, &chosen.model));
            matches.iter().position(is_chosen)
        });
        self.picker.set_matches(matches, place.unwrap_or(selected));
    }

    /// The matches. Models without a key are hidden until the user types or sets `all`.
    fn matches(&mut self, models: &ModelsState) -> Vec<usize> {
        let mut found = matches(self.picker.query(), models);
        let rows = &models.listing.rows;
        let is_ready = |row: &usize| rows[*row].key == KeyState::Ready;
        let all = found.len();
        if !self.all && self.picker.query().trim().is_empty() && found.iter().any(is_ready) {
            found.retain(is_ready);
        }
        self.hidden = all - found.len();
        found
    }

    /// The selected entry of `listing`.
    pub fn entry<'a>(&self, listing: &'a ModelList) -> Option<&'a ModelEntry> {
        listing.rows.get(self.picker.chosen()?)
    }
}

pub fn same(one: &Model, other: &Model) -> bool {
    one.provider == other.provider && one.id == other.id
}

/// The entries that match `query`, best first. Words win over letters, then models with a key over those
/// without, then the recently used.
fn matches(query: &str, models: &ModelsState) -> Vec<usize> {
    let rows = &models.listing.rows;
    let lately = |it: &Match| {
        let mut used = models.used.iter();
        let at = used.position(|used| same(used, &rows[it.row].model));
        at.unwrap_or(usize::MAX)
    };
    let keyless = |it: &Match| matches!(rows[it.row].key, KeyState::Missing(_));
    let mut found = search(rows, query);
    if query.trim().is_empty() {
        found.sort_by_cached_key(|it| (lately(it), keyless(it)));
    } else {
        found.sort_by_cached_key(|it| (it.scattered, keyless(it), Reverse(it.score), lately(it)));
    }
    found.into_iter().map(|it| it.row).collect()
}
