//! The list of models as plain data: which there are, which fit what is typed, in which order. Reads
//! nothing and draws nothing.

use std::cmp::Reverse;
use std::sync::Arc;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::app::models::{KeyState, Listing, Row};
use crate::llm::Model;

/// The models there are, as last read, and those that were used.
#[derive(Clone, Debug, PartialEq)]
pub struct Shelf {
    /// What there is; empty until the list was opened once.
    pub listing: Arc<Listing>,
    /// Whether it was read at all.
    pub is_read: bool,
    /// What is wrong with `models.toml`, as told since the list was opened.
    pub fault: Option<String>,
    /// The models of this session, the latest first.
    pub used: Vec<Arc<Model>>,
    /// The model the session began with.
    pub default: Arc<Model>,
}

impl Shelf {
    /// Nothing is known but the model the session begins with.
    pub fn new(default: Arc<Model>) -> Self {
        Self {
            listing: Arc::default(),
            is_read: false,
            fault: None,
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

/// The list while it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPicker {
    /// What is typed.
    pub query: String,
    /// The rows of the listing that fit, best first.
    pub hits: Vec<usize>,
    /// Which of them is chosen.
    pub selected: usize,
    /// The first line shown of everything that is known of it, when that was asked for.
    pub details: Option<usize>,
}

impl ModelPicker {
    /// Looks for what fits anew; the best is chosen.
    pub fn search(&mut self, shelf: &Shelf) {
        self.hits = hits(&self.query, shelf);
        self.selected = 0;
    }

    /// Takes in another listing; what was chosen stays chosen when it is still there.
    pub fn refresh(&mut self, before: &Listing, shelf: &Shelf) {
        let chosen = self.row(before).map(|row| Arc::clone(&row.model));
        let moved = self.selected > 0;
        self.hits = hits(&self.query, shelf);
        let at = chosen.filter(|_| moved).and_then(|chosen| {
            let model = |row: usize| shelf.listing.rows.get(row).map(|row| &row.model);
            self.hits
                .iter()
                .position(|row| model(*row).is_some_and(|model| same(model, &chosen)))
        });
        self.selected = at.unwrap_or_else(|| self.selected.min(self.hits.len().saturating_sub(1)));
    }

    /// The chosen row of `listing`.
    pub fn row<'a>(&self, listing: &'a Listing) -> Option<&'a Row> {
        listing.rows.get(*self.hits.get(self.selected)?)
    }

    /// Goes `by` rows down, or up; it stops at the ends.
    pub fn go(&mut self, by: isize) {
        let last = self.hits.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }
}

/// Whether both are the same model of the same provider.
pub fn same(one: &Model, other: &Model) -> bool {
    one.provider == other.provider && one.id == other.id
}

/// The rows that fit `query`, best first: those that hold its words before those that only hold its
/// letters, those that can be used before those without a key, and then those in use lately.
fn hits(query: &str, shelf: &Shelf) -> Vec<usize> {
    let rows = shelf.listing.rows.iter().enumerate();
    let lately = |row: &Row| {
        let used = shelf.used.iter().position(|used| same(used, &row.model));
        used.unwrap_or(usize::MAX)
    };
    let keyless = |row: &Row| matches!(row.key, KeyState::Missing(_));
    if query.trim().is_empty() {
        let mut hits: Vec<_> = rows
            .map(|(at, row)| ((lately(row), keyless(row)), at))
            .collect();
        hits.sort_unstable();
        return hits.into_iter().map(|(_, at)| at).collect();
    }
    let words = query.to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let pattern = Pattern::new(
        query,
        CaseMatching::Ignore,
        Normalization::Smart,
        AtomKind::Fuzzy,
    );
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut hits: Vec<_> = rows
        .filter_map(|(at, row)| {
            let text = format!("{}/{} {}", row.model.provider, row.model.id, row.model.name);
            let score = pattern.score(Utf32Str::new(&text, &mut letters), &mut matcher)?;
            let text = text.to_lowercase();
            let scattered = !words.iter().all(|word| text.contains(word));
            Some(((scattered, keyless(row), Reverse(score), lately(row)), at))
        })
        .collect();
    hits.sort_unstable();
    hits.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Api;

    fn model(full_id: &str) -> Arc<Model> {
        let (provider, id) = full_id.split_once('/').unwrap();
        Arc::new(Model::new(provider, id, Api::OpenAiChat, "http://x"))
    }

    /// A shelf of these models; a `!` in front of one says that it has no key.
    fn shelf(ids: &[&str], used: &[&str]) -> Shelf {
        let mut shelf = Shelf::new(model("none/none"));
        for id in used.iter().rev() {
            shelf.use_now(&model(id));
        }
        let row = |id: &&str| Row {
            model: model(id.trim_start_matches('!')),
            key: if id.starts_with('!') {
                KeyState::Missing("export KEY=...".into())
            } else {
                KeyState::Ready
            },
            origin: String::new(),
        };
        shelf.listing = Arc::new(Listing {
            rows: ids.iter().map(row).collect(),
            fault: None,
        });
        shelf
    }

    fn found(query: &str, shelf: &Shelf) -> Vec<String> {
        let mut picker = ModelPicker {
            query: query.into(),
            ..ModelPicker::default()
        };
        picker.search(shelf);
        let ids = picker.hits.iter().map(|at| &shelf.listing.rows[*at].model);
        ids.map(|model| model.full_id()).collect()
    }

    const ALL: &[&str] = &[
        "!openai/gpt-5.5",
        "!openai/gpt-5.5-mini",
        "anthropic/claude-opus-5",
        "anthropic/claude-sonnet-5-5",
        "openrouter/openai/gpt-5.5",
        "ollama/qwen3:8b",
    ];

    #[test]
    fn without_a_word_the_latest_come_first_and_the_keyless_last() {
        let shelf = shelf(ALL, &["anthropic/claude-sonnet-5-5", "ollama/qwen3:8b"]);
        assert_eq!(
            found(" ", &shelf),
            [
                "anthropic/claude-sonnet-5-5",
                "ollama/qwen3:8b",
                "anthropic/claude-opus-5",
                "openrouter/openai/gpt-5.5",
                "openai/gpt-5.5",
                "openai/gpt-5.5-mini",
            ]
        );
    }

    #[test]
    fn words_beat_letters_and_keys_beat_scores() {
        let shelf = shelf(ALL, &[]);
        for (query, expected) in [
            (
                "gpt-5.5",
                &[
                    "openrouter/openai/gpt-5.5",
                    "openai/gpt-5.5",
                    "openai/gpt-5.5-mini",
                ][..],
            ),
            ("MINI gpt", &["openai/gpt-5.5-mini"]),
            (
                "anth",
                &["anthropic/claude-opus-5", "anthropic/claude-sonnet-5-5"],
            ),
            ("cldopus", &["anthropic/claude-opus-5"]),
            ("qwen3:8", &["ollama/qwen3:8b"]),
            ("!^$'", &[]),
            ("zzz", &[]),
        ] {
            let found = found(query, &shelf);
            assert_eq!(
                found.first().map(String::as_str),
                expected.first().copied(),
                "{query}"
            );
            let mut found = found;
            let mut expected = expected.to_vec();
            found.sort();
            expected.sort_unstable();
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn a_new_listing_keeps_what_was_chosen() {
        let no_models = shelf(&[], &[]);
        let mut shelf = shelf(&["a/one", "a/two", "a/three"], &[]);
        let mut picker = ModelPicker::default();
        picker.search(&shelf);
        picker.go(1);
        let before = Arc::clone(&shelf.listing);
        let mut rows = before.rows.clone();
        rows.insert(
            0,
            Row {
                model: model("ollama/new"),
                ..rows[0].clone()
            },
        );
        shelf.listing = Arc::new(Listing { rows, fault: None });
        picker.refresh(&before, &shelf);
        let row = picker.row(&shelf.listing).unwrap();
        assert_eq!(row.model.full_id(), "a/two");
        picker.go(100);
        assert_eq!(picker.selected, 3);
        picker.go(-100);
        assert_eq!(picker.selected, 0);
        picker.refresh(&before, &no_models);
        assert!(picker.row(&Listing::default()).is_none());
    }
}
