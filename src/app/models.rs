//! The models to choose from: the catalogue, model servers on this machine, available keys,
//! favourites and the default.
//! Reads and queries only on demand. Builds each list again, so that changes to `models.toml`
//! apply. Chooses nothing itself.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::config;
use super::fuzzy::{Match, Query};
use super::keys::check_key;
use crate::agent::word_list::WordList;
use crate::llm::auth::KeyLocation;
use crate::llm::catalog::pattern::Name;
use crate::llm::catalog::{Named, Snapshot};
use crate::llm::http::Http;
use crate::llm::local::{self, DiscoveredServer, ServerAddrs};
use crate::llm::probe::Verdict;
use crate::llm::{Catalog, Keys, LlmError, Model, Secret};

pub(crate) const BUILT_IN: &str = "built in";
/// The origin of the user's own models.
const OWN: &str = "models.toml";

/// All models to choose from.
pub struct Models {
    catalog: Arc<Catalog>,
    keys: Keys,
    addrs: ServerAddrs,
    /// The models that a key cycles through, as typed.
    favorites: Vec<String>,
    config_file: PathBuf,
    /// The last answer of this machine's model servers.
    found: Mutex<Arc<[DiscoveredServer]>>,
}

/// All models, for a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelList {
    /// The models on this machine, then the user's own, then the built-in ones.
    pub rows: Vec<ModelEntry>,
    /// An error in `models.toml`, if any.
    pub error: Option<String>,
}

/// One model of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEntry {
    /// The model.
    pub model: Arc<Model>,
    /// Whether it can be used right away.
    pub key: KeyState,
    /// Where its entry comes from, for the user.
    pub origin: String,
}

impl ModelEntry {
    /// Whether a server on this machine has it.
    fn is_local(&self) -> bool {
        ![BUILT_IN, OWN].contains(&&*self.origin)
    }
}

/// A provider that needs a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderKey {
    /// Its id.
    pub name: String,
    /// Where its key is, if it has one.
    pub place: Option<String>,
}

/// Whether the key for a model is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// It is available, or the model needs none.
    Ready,
    /// Missing; this command sets it.
    Missing(String),
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models")
            .field("addrs", &self.addrs)
            .finish_non_exhaustive()
    }
}

impl Models {
    /// Reads and queries nothing yet. `favorites` are names as typed.
    pub fn new(
        catalog: Arc<Catalog>,
        keys: Keys,
        addrs: ServerAddrs,
        favorites: Vec<String>,
        config_file: PathBuf,
    ) -> Self {
        Self {
            catalog,
            addrs: addrs.with_ollama_env(|name| keys.get(name)),
            keys,
            favorites,
            config_file,
            found: Mutex::new(Arc::new([])),
        }
    }

    pub(crate) fn addrs(&self) -> &ServerAddrs {
        &self.addrs
    }

    /// Queries the model servers on this machine and remembers the answer.
    pub async fn discover(&self, timeout: Duration) -> Arc<[DiscoveredServer]> {
        let mut found = local::discover(&self.addrs, timeout).await;
        let catalog = self.catalog.current();
        for local in found.iter_mut().flat_map(|found| &mut found.models) {
            local.model = catalog.with_quirks(local.model.clone());
        }
        let found: Arc<[DiscoveredServer]> = found.into();
        *self.last_found() = Arc::clone(&found);
        found
    }

    pub(crate) fn found(&self) -> Arc<[DiscoveredServer]> {
        Arc::clone(&self.last_found())
    }

    fn last_found(&self) -> MutexGuard<'_, Arc<[DiscoveredServer]>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves `name` to a model. Prefers the catalogue, and calls `look` for models on this machine only if
    /// nothing matches there, or if a part of a name matches a host of open models.
    pub fn resolve_with(
        &self,
        name: &str,
        look: impl FnOnce() -> Arc<[DiscoveredServer]>,
    ) -> Result<Named, String> {
        let found = LazyCell::new(look);
        let on_this_machine = |name: &str| {
            let named = local::resolve(name, &found, &self.addrs)?;
            let named =
                named.map(|(model, level)| (self.catalog.current().with_quirks(model), level));
            Ok::<_, String>(named)
        };
        let named = self.catalog.resolve(name, &self.keys, on_this_machine)?;
        // `qwen3` means the running one, not one that costs and gets the user's files.
        let catalog = self.catalog.current();
        let host = catalog.built_in().provider(&named.0.provider);
        let is_part = !name.contains('/') && catalog.provider_auth(name).api_key.is_none();
        let is_part = is_part && !catalog.aliases().contains_key(name.trim());
        if !is_part || !host.is_some_and(|host| host.resells) {
            return Ok(named);
        }
        Ok(on_this_machine(name)?.unwrap_or(named))
    }

    /// The same; queries this machine itself if needed.
    pub async fn resolve(&self, name: &str) -> Result<Named, String> {
        if let Ok(named) = self.resolve_with(name, || self.found()) {
            return Ok(named);
        }
        let found = self.discover(local::DISCOVERY_TIMEOUT).await;
        self.resolve_with(name, || found)
    }

    /// The favourites in the user's order, without unknown names.
    pub async fn favorites(&self) -> Vec<Model> {
        let mut models: Vec<Model> = Vec::new();
        for name in &self.favorites {
            if let Ok((model, _)) = self.resolve(name).await
                && !models
                    .iter()
                    .any(|known| known.full_id() == model.full_id())
            {
                models.push(model);
            }
        }
        models
    }

    /// All models. Parses the whole catalogue, so don't call it while drawing.
    pub fn list(&self, found: &[DiscoveredServer]) -> ModelList {
        self.keys.reload();
        let mut rows = Vec::new();
        let mut known = HashSet::new();
        for found in found {
            let origin = format!("{} at {}", found.server.facts().title, found.address);
            for local in &found.models {
                known.insert(local.model.full_id());
                rows.push(ModelEntry {
                    model: Arc::new(local.model.clone()),
                    key: KeyState::Ready,
                    origin: if local.loaded {
                        format!("{origin}, in memory")
                    } else {
                        origin.clone()
                    },
                });
            }
        }
        let catalog = self.catalog.current();
        let mut keys = HashMap::new();
        for model in catalog.models(&self.keys) {
            if known.contains(&model.full_id()) {
                continue;
            }
            let key = keys
                .entry(model.provider.clone())
                .or_insert_with(|| self.key_state_in(&catalog, &model.provider))
                .clone();
            let own = catalog.own(&model.provider, &model.id).is_some();
            let origin = if own { OWN } else { BUILT_IN };
            rows.push(ModelEntry {
                model,
                key,
                origin: origin.to_owned(),
            });
        }
        newest_first(&mut rows);
        let error = self.catalog.take_trouble();
        ModelList { rows, error }
    }

    pub(crate) fn key_state(&self, provider: &str) -> KeyState {
        self.key_state_in(&self.catalog.current(), provider)
    }

    /// Why `provider` has no key, if so.
    pub fn missing_key(&self, provider: &str) -> Option<LlmError> {
        let catalog = self.catalog.current();
        catalog
            .provider_auth(provider)
            .key_location(&self.keys)
            .err()
    }

    fn key_state_in(&self, catalog: &Snapshot, provider: &str) -> KeyState {
        match catalog.provider_auth(provider).key_location(&self.keys) {
            Ok(_) => KeyState::Ready,
            Err(error) => KeyState::Missing(error.hint.unwrap_or(error.message)),
        }
    }

    /// The providers that need a key; those that have one come first.
    pub fn provider_keys(&self) -> Vec<ProviderKey> {
        self.keys.reload();
        let catalog = self.catalog.current();
        let state = |name: &str| match catalog.provider_auth(name).key_location(&self.keys) {
            Ok(KeyLocation::None) => None,
            Ok(location) => Some(Some(location.to_string())),
            Err(_) => Some(None),
        };
        let providers = catalog.providers().filter_map(|name| {
            Some(ProviderKey {
                name: name.to_owned(),
                place: state(name)?,
            })
        });
        let mut providers: Vec<_> = providers.collect();
        providers.sort_by_key(|provider| provider.place.is_none());
        providers
    }

    /// Stores a key for `provider`, effective at once, and returns a message.
    pub fn store_key(&self, provider: &str, key: Secret) -> Result<String, String> {
        let mut store = self.keys.store();
        store.put(provider, Some(key))?;
        let place = store.path().display().to_string();
        self.keys.reload();
        let catalog = self.catalog.current();
        let auth = catalog.provider_auth(provider);
        let location = auth.key_location(&self.keys);
        let ignored = location.as_ref().map(|it| auth.ignored(&self.keys, it));
        let ignored = ignored.unwrap_or_default().join(", ");
        Ok(match location {
            Err(_) if auth.api_key.is_some() => format!(
                "Stored the key for {provider} in {place}, but {} has api_key for it, which takes \
                     precedence",
                catalog.file().display()
            ),
            Ok(KeyLocation::Stored(_)) if !ignored.is_empty() => format!(
                "Stored the key for {provider} in {place}; tiller uses it instead of {ignored}"
            ),
            Ok(KeyLocation::Stored(_)) | Err(_) => {
                format!("Stored the key for {provider} in {place}")
            }
            Ok(other) => format!(
                "Stored the key for {provider} in {place}, but another one takes precedence: {other}"
            ),
        })
    }

    pub(crate) async fn check_key(&self, provider: &str) -> Verdict {
        check_key(&self.catalog, &self.keys, &Http::default(), provider).await
    }

    /// Makes `full_id` the default model in the user's settings file, and returns that file. An
    /// error leaves the file unchanged.
    pub fn save_default(&self, full_id: &str) -> Result<PathBuf, String> {
        config::set_in_file(&self.config_file, "models", "default", full_id)?;
        Ok(self.config_file.clone())
    }
}

/// The rows whose name contains the words of `query`; if there are none, those whose name it shortens,
/// as `son45`. Ignores case, and `.` and `_` match `-`. `cheap` and `local` stand for the models with
/// a price, the lowest first, and those on this machine.
pub fn search(rows: &[ModelEntry], query: &str) -> Vec<Match> {
    let plain = |text: &str| -> String {
        let plain = |c: char| match c {
            '.' | '_' => '-',
            c => c.to_ascii_lowercase(),
        };
        text.chars().map(plain).collect()
    };
    let typed = plain(query);
    let mut words: Vec<&str> = typed.split_whitespace().collect();
    let mut has = |one_of: WordList| {
        let all = words.len();
        words.retain(|word| !one_of.contains(word));
        words.len() < all
    };
    let (by_price, is_local) = (has(CHEAP), has(LOCAL));
    if by_price || is_local {
        has(MODEL);
    }
    let mut query = Query::new(&words.join(" "));
    let fit = |(row, entry): (usize, &ModelEntry)| {
        let model = &entry.model;
        let name = plain(&format!("{}/{} {}", model.provider, model.id, model.name));
        let is_meant = (!by_price || price(model) > 0.0) && (!is_local || entry.is_local());
        is_meant.then(|| query.fit(row, &name))?
    };
    let mut found: Vec<Match> = rows.iter().enumerate().filter_map(fit).collect();
    if found.iter().any(|it| !it.scattered) {
        found.retain(|it| !it.scattered);
    } else {
        found.retain(|it| shortens(&words.concat(), &plain(&rows[it.row].model.full_id())));
    }
    if by_price {
        found.sort_by(|one, other| {
            let price = |it: &Match| price(&rows[it.row].model);
            price(one).total_cmp(&price(other))
        });
        for (place, it) in found.iter_mut().enumerate() {
            it.score = u32::MAX - place as u32;
        }
    }
    found
}

/// Words of a query for models by their price.
const CHEAP: WordList = WordList("cheap cheaper cheapest price");
/// Words for models on this machine.
const LOCAL: WordList = WordList("local offline");
/// Words that say nothing beside these.
const MODEL: WordList = WordList("model models");

/// Dollars for a million tokens read and as many written; 0 if unknown.
fn price(model: &Model) -> f64 {
    model.prices.input + model.prices.output
}

/// Whether `typed` is made of beginnings of the words and numbers in `name`, in their order.
fn shortens(typed: &str, name: &str) -> bool {
    let Some(first) = typed.chars().next() else {
        return true;
    };
    let mut before = '-';
    for (at, letter) in name.char_indices() {
        let is_number = letter.is_ascii_digit();
        let begins = !before.is_alphanumeric() || before.is_ascii_digit() != is_number;
        before = letter;
        if begins && letter == first {
            let pairs = typed.char_indices().zip(name[at..].char_indices());
            let same = pairs.take_while(|((_, one), (_, other))| one == other);
            let mut ends = same.map(|((at_typed, one), (at_name, _))| {
                (at_typed + one.len_utf8(), at + at_name + one.len_utf8())
            });
            if ends.any(|(of_typed, of_name)| shortens(&typed[of_typed..], &name[of_name..])) {
                return true;
            }
        }
    }
    false
}

/// Sorts each provider's models by version, newest first, then those without a version. Providers
/// and models of equal version keep their order.
fn newest_first(rows: &mut [ModelEntry]) {
    let mut providers: Vec<String> = Vec::new();
    for row in rows.iter() {
        if providers.last() != Some(&row.model.provider) && !providers.contains(&row.model.provider)
        {
            providers.push(row.model.provider.clone());
        }
    }
    rows.sort_by_cached_key(|row| {
        let provider = providers.iter().position(|it| *it == row.model.provider);
        let name = Name::parse(&row.model.id);
        let (version, undated, date) = name.age();
        (provider, Reverse((version.to_vec(), undated, date)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Api;

    fn found(query: &str) -> Vec<String> {
        let rows = [
            ("anthropic/claude-sonnet-4-5", 18.0, BUILT_IN),
            ("anthropic/claude-haiku-4-5", 6.0, BUILT_IN),
            ("openai/gpt-5-mini", 2.0, BUILT_IN),
            ("ollama/qwen3:8b", 0.0, "Ollama at localhost"),
        ];
        let rows = rows.map(|(name, price, origin)| {
            let (provider, id) = name.split_once('/').unwrap();
            let mut model = Model::new(provider, id, Api::OpenAiChat, "https://api.example/v1");
            model.prices.input = price;
            ModelEntry {
                model: Arc::new(model),
                key: KeyState::Ready,
                origin: origin.to_owned(),
            }
        });
        let found = search(&rows, query).into_iter();
        found.map(|it| rows[it.row].model.id.clone()).collect()
    }

    #[test]
    fn words_find_a_model_by_name_short_name_price_and_place() {
        let (sonnet, haiku, mini, qwen) = (
            "claude-sonnet-4-5",
            "claude-haiku-4-5",
            "gpt-5-mini",
            "qwen3:8b",
        );
        for (query, ids) in [
            ("sonnet", vec![sonnet]),
            ("Claude 4.5", vec![sonnet, haiku]),
            ("son45", vec![sonnet]),
            ("gpt5m", vec![mini]),
            ("cheap", vec![mini, haiku, sonnet]),
            ("cheaper models", vec![mini, haiku, sonnet]),
            ("cheap claude", vec![haiku, sonnet]),
            ("local model", vec![qwen]),
            // Letters inside of words.
            ("aud", vec![sonnet, haiku]),
            ("cheese", vec![]),
            ("ctn", vec![]),
        ] {
            assert_eq!(found(query), ids, "{query}");
        }
    }
}
