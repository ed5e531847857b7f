//! One state of the catalogue: the built-in models with the user's `models.toml` over them.
//!
//! Finds and puts together; what a name means is `naming`'s, when the file is read `live`'s. A
//! built-in model is parsed when it is asked for; all of them only for a list.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::builtin;
use super::check::parse_api;
use super::family;
use super::file::{self, ModelEntry, ProviderEntry};
use crate::llm::auth::{KeySource, Keys, Owner};
use crate::llm::model::{Api, Model};
use crate::llm::options;
use crate::llm::window::Window;

/// The models there are, until the file changes.
#[derive(Default)]
pub struct Listing {
    file: PathBuf,
    user: BTreeMap<String, ProviderEntry>,
    budget: u64,
    all: OnceLock<Arc<[Arc<Model>]>>,
}

impl Listing {
    /// Reads the text of the user's `file`. `budget` is the window, in tokens, of models that do not
    /// tell theirs; 0 when the user set none.
    ///
    /// # Errors
    /// What is wrong with the file, without its name.
    pub fn parse(file: &Path, text: &str, budget: u64) -> Result<Self, String> {
        let user = file::parse(text)?;
        for (id, entry) in &user {
            if builtin::provider(id).is_none() {
                reachable(id, entry)?;
            }
        }
        Ok(Self {
            file: file.to_owned(),
            user,
            budget,
            all: OnceLock::new(),
        })
    }

    /// The user's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What the user says of each provider.
    pub fn user(&self) -> &BTreeMap<String, ProviderEntry> {
        &self.user
    }

    /// The model of exactly this provider and id, if it is listed.
    pub fn known(&self, provider: &str, id: &str) -> Option<Model> {
        let built_in = builtin::model(provider, id);
        let user = self.user.get(provider);
        let own = user.and_then(|entry| entry.models.iter().find(|model| model.id == id));
        if built_in.is_none() && own.is_none() {
            return None;
        }
        let header = builtin::provider(provider);
        self.assemble(provider, id, header.as_ref(), built_in.as_ref())
    }

    /// A model nobody listed, of a provider that is known.
    pub fn unlisted(&self, provider: &str, id: &str) -> Option<Model> {
        self.assemble(provider, id, builtin::provider(provider).as_ref(), None)
    }

    /// All models, the user's first, then the built-in ones in the order of their providers. The
    /// first call parses the whole built-in list: not for the way to the first frame.
    pub fn models(&self) -> Arc<[Arc<Model>]> {
        let all = self.all.get_or_init(|| {
            let mut models = Vec::new();
            let mut taken = HashSet::new();
            for (provider, entry) in &self.user {
                for model in &entry.models {
                    if taken.insert((provider.as_str(), model.id.as_str())) {
                        models.extend(self.known(provider, &model.id).map(Arc::new));
                    }
                }
            }
            for (provider, header) in builtin::all() {
                for entry in &header.models {
                    if !taken.contains(&(provider, entry.id.as_str())) {
                        let model = self.assemble(provider, &entry.id, Some(&header), Some(entry));
                        models.extend(model.map(Arc::new));
                    }
                }
            }
            models.into()
        });
        Arc::clone(all)
    }

    /// Provider and id of all models, the user's first.
    pub fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
        let user = self.user.iter().flat_map(|(provider, entry)| {
            entry
                .models
                .iter()
                .map(move |model| (provider.as_str(), model.id.as_str()))
        });
        user.chain(builtin::model_ids().filter_map(|(provider, id)| {
            let entry = self.user.get(provider);
            let replaced =
                entry.is_some_and(|entry| entry.models.iter().any(|model| model.id == id));
            (!replaced).then_some((provider, id))
        }))
    }

    /// The ids of all providers, the user's first.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        let built_in = builtin::provider_ids();
        let other = built_in.filter(|id| !self.user.contains_key(*id));
        self.user
            .keys()
            .map(String::as_str)
            .chain(other.map(|id| id as &str))
    }

    /// The id of the model to take of `provider` when none was named.
    pub fn default_of(&self, provider: &str) -> Option<String> {
        let user = self.user.get(provider);
        let own = user.and_then(|entry| entry.default.clone());
        let first = || Some(user?.models.first()?.id.clone());
        own.or_else(|| builtin::provider(provider)?.default)
            .or_else(first)
    }

    /// Whether there is a key for `provider`, or it needs none. Fetches nothing.
    pub fn has_key(&self, provider: &str, keys: &Keys) -> bool {
        let header = builtin::provider(provider);
        self.owner(provider, header.as_ref()).place(keys).is_ok()
    }

    /// `provider` as far as its key is concerned; `header` is its built-in one.
    pub fn owner<'a>(&'a self, provider: &'a str, header: Option<&'a ProviderEntry>) -> Owner<'a> {
        let user = self.user.get(provider);
        let names = match user {
            Some(entry) if !entry.env.is_empty() => &entry.env[..],
            _ => header.map_or(&[][..], |entry| &entry.env),
        };
        Owner {
            provider,
            api_key: user.and_then(|entry| entry.api_key.as_deref()),
            variables: names,
            models_file: &self.file,
        }
    }

    /// The variables that keys are looked for in, those of all providers.
    pub fn key_variables(&self) -> Vec<String> {
        let mut names = builtin::key_variables();
        for entry in self.user.values() {
            names.extend(entry.env.iter().cloned());
            let written = entry.headers.values().chain(&entry.api_key);
            names.extend(written.filter_map(|text| match KeySource::parse(text) {
                KeySource::Variable(name) => Some(name),
                _ => None,
            }));
        }
        names
    }

    /// A model out of its provider's header, its built-in entry and what the user says of both,
    /// each winning over the one before.
    fn assemble(
        &self,
        provider: &str,
        id: &str,
        header: Option<&ProviderEntry>,
        built_in: Option<&ModelEntry>,
    ) -> Option<Model> {
        let user = self.user.get(provider);
        let pick = |field: fn(&ProviderEntry) -> Option<&str>| {
            user.and_then(field).or(header.and_then(field))
        };
        if user.is_none() && header.is_none() {
            return None;
        }
        let api = parse_api(pick(|entry| entry.api.as_deref()), "").ok()?;
        let base_url = pick(|entry| entry.base_url.as_deref()).unwrap_or_default();
        let mut model = Model::new(provider, id, api.unwrap_or(Api::OpenAiChat), base_url);
        model.edit_format = family::edit_format(id);
        model.context_window = 0;
        if let Some(header) = header {
            model.quirks.overlay(&header.quirks);
            options::overlay(&mut model.options, &header.options);
        }
        if let Some(entry) = built_in {
            entry.apply(&mut model);
        }
        if let Some(user) = user {
            // A user's address for a built-in provider is meant for all of its models.
            if let Some(base_url) = &user.base_url {
                model.base_url.clone_from(base_url);
            }
            model.quirks.overlay(&user.quirks);
            options::overlay(&mut model.options, &user.options);
            if let Some(entry) = user.models.iter().find(|model| model.id == id) {
                entry.apply(&mut model);
            }
        }
        let window = Window::of(model.context_window, self.budget);
        model.context_window = window.tokens;
        model.window_source = window.source;
        Some(model)
    }
}

/// A provider nobody but the user knows must say how and where it is reached.
fn reachable(id: &str, entry: &ProviderEntry) -> Result<(), String> {
    let missing = [
        ("api", entry.api.is_none()),
        ("base_url", entry.base_url.is_none()),
    ];
    for (key, missing) in missing {
        let everywhere = |model: &ModelEntry| match key {
            "api" => model.api.is_some(),
            _ => model.base_url.is_some(),
        };
        if missing && (entry.models.is_empty() || !entry.models.iter().all(everywhere)) {
            let example = match key {
                "api" => "openai-chat",
                _ => "http://127.0.0.1:8080/v1",
            };
            return Err(format!(
                "providers.{id}: '{key}' is missing; add {key} = \"{example}\" or the like"
            ));
        }
    }
    Ok(())
}
