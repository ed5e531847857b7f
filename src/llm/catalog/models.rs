//! Which models there are: the built-in ones and those of the user's `models.toml`, and what a
//! person means by a name.
//!
//! Loading reads the user's file only. A built-in model is parsed when it is named; all of them only
//! for a list.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::builtin;
use super::file::{self, ModelEntry, ProviderEntry, nearest, parse_api};
use super::pattern::{Fit, Name, fit};
use crate::llm::auth::{KeySource, Keys, Owner, Place};
use crate::llm::error::LlmError;
use crate::llm::model::{Api, Model, ThinkingLevel};

/// What is wrong with a model's name or with `models.toml`, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

/// All models that can be named.
#[derive(Clone, Default)]
pub struct Catalog {
    file: PathBuf,
    user: BTreeMap<String, ProviderEntry>,
}

/// Most candidates an error lists.
const LISTED: usize = 12;

impl Catalog {
    /// Reads the user's `models.toml`; a file that is not there is an empty one.
    pub fn load(user_file: &Path) -> Result<Self, CatalogError> {
        let fault = |what: String| CatalogError(format!("{}: {what}", user_file.display()));
        let text = match fs::read_to_string(user_file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(fault(error.to_string())),
        };
        let catalog = Self {
            file: user_file.to_owned(),
            user: file::parse(&text).map_err(fault)?,
        };
        for (id, entry) in &catalog.user {
            if builtin::provider(id).is_some() {
                continue;
            }
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
                    return Err(fault(format!(
                        "providers.{id}: '{key}' is missing; add {key} = \"{example}\" or the like"
                    )));
                }
            }
        }
        Ok(catalog)
    }

    /// The model a person means by `provider/id`, `provider/id:thinking` or a short pattern, and
    /// the thinking level if one was named.
    ///
    /// # Errors
    /// Nothing or several models fit; the error lists what
    /// could be meant and says what to type.
    pub fn resolve(&self, name: &str) -> Result<(Model, Option<ThinkingLevel>), CatalogError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(CatalogError(
                "no model named: type provider/id, for example anthropic/claude-sonnet-5-5".into(),
            ));
        }
        // Ids may hold colons themselves (`qwen/qwen3:free`), so the whole is tried first.
        if let Some((provider, id)) = name.split_once('/')
            && let Some(model) = self.known(provider, id)
        {
            return Ok((spoken(model), None));
        }
        let (bare, thinking) = match name.rsplit_once(':') {
            Some((bare, level)) => match level.parse::<ThinkingLevel>() {
                Ok(level) => (bare, Some(level)),
                Err(_) => (name, None),
            },
            None => (name, None),
        };
        let mut model = self.named(bare)?;
        // Of an id nobody knows, asking it to think is all we have to go by.
        if thinking.is_some_and(|level| level > ThinkingLevel::Off)
            && self.known(&model.provider, &model.id).is_none()
        {
            model.reasoning = true;
        }
        Ok((spoken(model), thinking))
    }

    /// The newest sensible model of the first provider that has a key, built-in providers first;
    /// nothing without any key.
    pub fn default_model(&self, keys: &Keys) -> Option<Model> {
        for (provider, header) in builtin::headers() {
            match self.owner(provider, Some(&header)).place(keys) {
                Ok(Place::None) | Err(_) => continue,
                Ok(_) => {}
            }
            let own = self
                .user
                .get(provider)
                .and_then(|entry| entry.default.as_deref());
            let model = own
                .or(header.default.as_deref())
                .and_then(|id| self.known(provider, id));
            if let Some(model) = model.map(spoken) {
                return Some(model);
            }
        }
        self.user.iter().find_map(|(provider, entry)| {
            let first = entry.models.first().map(|model| &model.id);
            let model = self.known(provider, entry.default.as_ref().or(first)?)?;
            self.key_place(provider, keys).ok()?;
            Some(spoken(model))
        })
    }

    /// All models that can be spoken to, the user's first. Parses the whole built-in list: not for
    /// the way to the first frame.
    pub fn models(&self) -> Vec<Model> {
        let own = self.user.iter().flat_map(|(provider, entry)| {
            let ids = entry.models.iter().map(|model| &model.id);
            ids.filter_map(|id| self.known(provider, id))
        });
        let mut models: Vec<Model> = own.collect();
        for (provider, header) in builtin::all() {
            for entry in &header.models {
                let replaced = |model: &Model| model.provider == provider && model.id == entry.id;
                if !models.iter().any(replaced) {
                    models.extend(self.assemble(provider, &entry.id, Some(&header), Some(entry)));
                }
            }
        }
        models.into_iter().map(spoken).collect()
    }

    /// Where the key of `provider` is, without fetching it.
    ///
    /// # Errors
    /// A missing key, as an [`ErrorClass::Auth`](crate::llm::ErrorClass::Auth) error that says what
    /// was looked for, where, and the exact line that sets it.
    pub fn key_place(&self, provider: &str, keys: &Keys) -> Result<Place, LlmError> {
        let header = builtin::provider(provider);
        self.owner(provider, header.as_ref()).place(keys)
    }

    /// The variables that keys are looked for in, those of all providers.
    pub fn key_variables(&self) -> Vec<String> {
        let mut names = builtin::key_variables();
        for entry in self.user.values() {
            names.extend(entry.env.iter().cloned());
            if let Some(KeySource::Variable(name)) = entry.api_key.as_deref().map(KeySource::parse)
            {
                names.push(name);
            }
        }
        names
    }

    /// The line that sets the key of `provider`, for a server that refused the one it got.
    pub fn key_hint(&self, provider: &str) -> String {
        let header = builtin::provider(provider);
        self.owner(provider, header.as_ref()).hint()
    }

    fn owner<'a>(&'a self, provider: &'a str, header: Option<&'a ProviderEntry>) -> Owner<'a> {
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

    /// Where `model` is reached: its own address, or what the environment puts in its place
    /// (`ANTHROPIC_BASE_URL` and the like) unless `models.toml` settled it.
    pub fn base_url(&self, model: &Model, keys: &Keys) -> String {
        let settled = self.user.get(&model.provider).is_some_and(|entry| {
            let of_model = entry
                .models
                .iter()
                .any(|own| own.id == model.id && own.base_url.is_some());
            entry.base_url.is_some() || of_model
        });
        let variable = builtin::provider(&model.provider).and_then(|entry| entry.base_url_env);
        match variable.as_deref().and_then(|name| keys.get(name)) {
            Some(base_url) if !settled => base_url.to_owned(),
            _ => model.base_url.clone(),
        }
    }

    /// The model of exactly this provider and id, if it is listed.
    fn known(&self, provider: &str, id: &str) -> Option<Model> {
        let built_in = builtin::model(provider, id);
        let user = self.user.get(provider);
        let own = user.and_then(|entry| entry.models.iter().find(|model| model.id == id));
        if built_in.is_none() && own.is_none() {
            return None;
        }
        let header = builtin::provider(provider);
        self.assemble(provider, id, header.as_ref(), built_in.as_ref())
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
        if let Some(entry) = built_in {
            entry.apply(&mut model);
        }
        // A user's address for a built-in provider is meant for all of its models.
        if let Some(base_url) = user.and_then(|entry| entry.base_url.as_ref()) {
            model.base_url.clone_from(base_url);
        }
        let own = user.and_then(|entry| entry.models.iter().find(|model| model.id == id));
        if let Some(entry) = own {
            entry.apply(&mut model);
        }
        Some(model)
    }

    fn named(&self, name: &str) -> Result<Model, CatalogError> {
        if let Some((provider, id)) = name.split_once('/') {
            if id.is_empty() {
                let what = format!("'{name}' names no model: type {provider}/ID");
                return Err(CatalogError(what));
            }
            let unlisted =
                || self.assemble(provider, id, builtin::provider(provider).as_ref(), None);
            if let Some(model) = self.known(provider, id).or_else(unlisted) {
                return Ok(model);
            }
        }
        let mut found: Vec<(Fit, u8, &str, &str)> = self
            .ids()
            .filter_map(|(provider, id)| Some((fit(name, id)?, self.rank(provider), provider, id)))
            .collect();
        let best = found.iter().map(|(fit, rank, ..)| (*fit, *rank)).min();
        found.retain(|(fit, rank, ..)| Some((*fit, *rank)) == best);
        let ids: Vec<(&str, &str)> = found
            .into_iter()
            .map(|(_, _, provider, id)| (provider, id))
            .collect();
        match self.choose(name, &ids) {
            Some((provider, id)) => self.known(provider, id).ok_or_else(|| self.unknown(name)),
            None if ids.is_empty() => Err(self.unknown(name)),
            None => Err(ambiguous(name, &ids)),
        }
    }

    /// The one model `ids` come down to: the only one, or the newest of one provider's family, or,
    /// when `name` says a version, that of the family the provider's default belongs to.
    fn choose<'a>(&self, name: &str, ids: &[(&'a str, &'a str)]) -> Option<(&'a str, &'a str)> {
        let (provider, first) = *ids.first()?;
        if ids.iter().any(|(other, _)| *other != provider) {
            return None;
        }
        let mut family = Name::parse(first).family;
        if ids.iter().any(|(_, id)| Name::parse(id).family != family) {
            if !name.contains(|c: char| c.is_ascii_digit()) {
                return None;
            }
            let own = self
                .user
                .get(provider)
                .and_then(|entry| entry.default.clone());
            let default = own.or_else(|| builtin::provider(provider)?.default)?;
            family = Name::parse(&default).family;
        }
        Some((provider, newest(ids, provider, &family)?))
    }

    /// Whose models a pattern means first: the user's own, then a maker's, then a reseller's.
    fn rank(&self, provider: &str) -> u8 {
        match builtin::provider(provider) {
            None => 0,
            Some(_)
                if self
                    .user
                    .get(provider)
                    .is_some_and(|entry| !entry.models.is_empty()) =>
            {
                0
            }
            Some(entry) => 1 + u8::from(entry.resells),
        }
    }

    fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
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

    fn unknown(&self, name: &str) -> CatalogError {
        if let Some((provider, _)) = name.split_once('/') {
            let mut all: Vec<&str> = self.user.keys().map(String::as_str).collect();
            for id in builtin::provider_ids() {
                if !self.user.contains_key(id) {
                    all.push(id);
                }
            }
            let near = nearest(provider, all.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean '{near}'? "));
            return CatalogError(format!(
                "unknown provider '{provider}' in '{name}': {near}known are {}; or add [providers.{provider}] \
                 with api, base_url and models to {}",
                all.join(", "),
                self.file.display()
            ));
        }
        let mut near: Vec<(f64, String)> = self
            .ids()
            .map(|(provider, id)| (strsim::jaro_winkler(name, id), format!("  {provider}/{id}")))
            .filter(|(likeness, _)| *likeness > 0.75)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(3);
        let near: Vec<String> = near.into_iter().map(|(_, id)| id).collect();
        let near = match near.as_slice() {
            [] => String::new(),
            near => format!("; the nearest are\n{}", near.join("\n")),
        };
        CatalogError(format!(
            "unknown model '{name}': looked in the built-in models and in {}; type provider/id, for \
             example anthropic/claude-sonnet-5-5{near}",
            self.file.display()
        ))
    }
}

/// The newest id of `provider`'s `family` among `ids`.
fn newest<'a>(ids: &[(&str, &'a str)], provider: &str, family: &[String]) -> Option<&'a str> {
    ids.iter()
        .filter(|(other, id)| *other == provider && Name::parse(id).family == family)
        .max_by(|a, b| Name::parse(a.1).age().cmp(&Name::parse(b.1).age()))
        .map(|(_, id)| *id)
}

/// Lists what `name` can mean: of each family the newest.
fn ambiguous(name: &str, ids: &[(&str, &str)]) -> CatalogError {
    let mut list: Vec<String> = ids
        .iter()
        .filter(|(provider, id)| newest(ids, provider, &Name::parse(id).family) == Some(*id))
        .map(|(provider, id)| format!("  {provider}/{id}"))
        .collect();
    if list.len() > LISTED {
        let more = list.len() - LISTED;
        list.truncate(LISTED);
        list.push(format!("  ... and {more} more"));
    }
    let list = list.join("\n");
    CatalogError(format!(
        "'{name}' can mean several models; type one of\n{list}"
    ))
}

/// The model with the wire it is spoken to over: until the Responses wire exists, Chat Completions,
/// which the same hosts serve.
fn spoken(mut model: Model) -> Model {
    if model.api == Api::OpenAiResponses {
        model.api = Api::OpenAiChat;
    }
    model
}
