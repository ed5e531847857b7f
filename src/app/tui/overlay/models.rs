//! The list of models as plain data: all of them, the matches and their order.

use std::cmp::Reverse;
use std::sync::Arc;

use super::picker::{Pager, Picker};
use crate::app::fuzzy::Match;
use crate::app::models::{KeyState, ModelEntry, ModelList, search};
use crate::llm::Model;

/// The models there are, as last read, and those that were used.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelsState {
    /// What there is; empty until the list was opened once.
    pub listing: Arc<ModelList>,
    pub(crate) is_read: bool,
    /// What is wrong with `models.toml`, as told since the list was opened.
    pub error: Option<String>,
    /// The models of this session, the latest first.
    pub used: Vec<Arc<Model>>,
    /// The model the session began with.
    pub default: Arc<Model>,
}

impl ModelsState {
    /// Nothing is known but the model the session begins with.
    pub fn new(default: Arc<Model>) -> Self {
        Self {
            listing: Arc::default(),
            is_read: false,
            error: None,
            used: vec![Arc::clone(&default)],
            default,
        }
    }

    /// `model` is in use now.
    pub fn use_now(&mut self, model: &Arc<Model>) {
        self.used.retain(|used| !same(used, model));
        self.used.insert(0, Arc::clone(model));
    }
}

/// The list while it is open. Its matches are rows of the listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPicker {
    /// The list.
    pub picker: Picker,
    /// The details of the chosen model, if the user opened them.
    pub details: Option<Pager>,
    /// Whether models without a key are listed too.
    pub all: bool,
    /// The number of matching models that are hidden because they have no key.
    pub hidden: usize,
}

impl ModelPicker {
    /// Searches again and selects the best match.
    pub fn search(&mut self, models: &ModelsState) {
        let matches = self.matches(models);
        self.picker.set_matches(matches, 0);
    }

    /// Takes a new listing; the chosen model stays chosen if it's still there.
    pub fn refresh(&mut self, before: &ModelList, models: &ModelsState) {
        let selected = self.picker.selected();
        let chosen = self.entry(before).filter(|_| selected > 0);
        let matches = self.matches(models);
        let place = chosen.and_then(|chosen| {
            let model = |entry: usize| models.listing.rows.get(entry).map(|entry| &entry.model);
            let is_chosen =
                |entry: &usize| model(*entry).is_some_and(|model| same(model, &chosen.model));
            matches.iter().position(is_chosen)
        });
        self.picker.set_matches(matches, place.unwrap_or(selected));
    }

    /// The matches. Until the user types, models without a key are hidden, unless all are wanted or
    /// there are no others.
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

    /// The chosen entry of `listing`.
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
