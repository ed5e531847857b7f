//! One state of the catalog: the built-in models with the user's `models.toml` over them.
//!
//! Finds and merges entries. `naming` resolves names, and `models` decides when to read the file. Parses
//! a built-in model on demand, and all of them only for a list.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::builtin::BuiltIn;
use super::family::Family;
use super::file::{self, ModelEntry, ModelsFile, ProviderEntry};
use super::pattern::Name;
use crate::address::AddressSource;
use crate::api::Api;
use crate::auth::{KeyLocation, KeySpec, Keys, ProviderAuth, Secret};
use crate::local::LocalServer;
use crate::model::Model;
use crate::options;
use crate::quirks::Quirks;
use crate::window;

/// All models, until the file changes.
#[derive(Default)]
pub struct Snapshot {
    file: PathBuf,
    options: Arc<CatalogOptions>,
    user: ModelsFile,
    all: OnceLock<Vec<Arc<Model>>>,
}

/// The settings for models.
#[derive(Clone, Default)]
pub struct CatalogOptions {
    /// The user's aliases and their targets.
    pub aliases: BTreeMap<String, String>,
    /// The window in tokens for models that don't tell theirs; 0 if not set.
    pub context_window: u64,
    /// The catalog below the user's file.
    pub built_in: Arc<BuiltIn>,
}

impl Snapshot {
    /// Reads the text of the user's `file`.
    ///
    /// # Errors
    /// What is wrong with the file. The caller adds its name.
    pub(super) fn parse(
        file: &Path,
        text: &str,
        options: &Arc<CatalogOptions>,
    ) -> Result<Self, String> {
        let user = file::parse(text)?;
        if let Some(name) = user.hosts.keys().next() {
            return Err(format!(
                "hosts.{name}: only the built-in catalog has hosts. Describe your server in \
                 [providers.ID.quirks]"
            ));
        }
        for (id, entry) in &user.providers {
            if options.built_in.provider(id).is_none() {
                reachable(id, entry)?;
            }
            file::check_addresses(id, entry)?;
        }
        Ok(Self {
            file: file.to_owned(),
            options: Arc::clone(options),
            user,
            all: OnceLock::new(),
        })
    }

    /// Replaces the text of the user's file.
    pub(super) fn reparse(&self, text: &str) -> Result<Self, String> {
        Self::parse(&self.file, text, &self.options)
    }

    /// The user's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The built-in catalog.
    pub fn built_in(&self) -> &BuiltIn {
        &self.options.built_in
    }

    /// The user's aliases and their targets.
    pub fn aliases(&self) -> &BTreeMap<String, String> {
        &self.options.aliases
    }

    /// The user's entry for each provider.
    pub fn user(&self) -> &BTreeMap<String, ProviderEntry> {
        &self.user.providers
    }

    /// The model of exactly this provider and id, if it is listed.
    pub fn known(&self, provider: &str, id: &str) -> Option<Model> {
        let built_in = self.built_in().model(provider, id);
        if built_in.is_none() && self.own(provider, id).is_none() {
            return None;
        }
        self.assemble(provider, id, built_in.as_ref())
    }

    /// An unlisted model of a known provider. If a listed model of its family has the same version (an
    /// id with a date, say), it gets all of that model's facts. If it is newer than all listed ones, it
    /// gets the newest one's facts, except the price.
    pub fn unlisted(&self, provider: &str, id: &str) -> Option<Model> {
        let Some((like, same)) = self.listed_like(provider, id) else {
            return self.assemble(provider, id, None);
        };
        let listed = self.built_in().model(provider, like)?;
        let entry = ModelEntry {
            name: None,
            prices: listed.prices.clone().filter(|_| same),
            ..listed
        };
        let model = self.assemble(provider, id, Some(&entry))?;
        Some(Model {
            like: (!same).then(|| format!("{provider}/{like}")),
            ..model
        })
    }

    /// The newest listed model with the family and version of `id`, and true. If `id` has a later
    /// version, the newest of the family.
    fn listed_like(&self, provider: &str, id: &str) -> Option<(&str, bool)> {
        let parse = |id: &str| {
            let mut name = Name::parse(id);
            // A preview is a model whose name isn't final.
            name.family
                .retain(|word| word != "preview" && word != "exp");
            name
        };
        let name = parse(id);
        let listed = self.built_in().model_ids();
        let siblings = listed
            .filter(|(other, _)| *other == provider)
            .map(|(_, id)| (parse(id), id))
            .filter(|(sibling, _)| sibling.family == name.family);
        let same = |sibling: &Name| sibling.version == name.version;
        let (sibling, id) =
            siblings.max_by(|(a, _), (b, _)| (same(a), a.age()).cmp(&(same(b), b.age())))?;
        (same(&sibling) || name.version > sibling.version).then(|| (id, same(&sibling)))
    }

    /// The user's entry for a model.
    pub fn own(&self, provider: &str, id: &str) -> Option<&ModelEntry> {
        let entry = self.user().get(provider)?;
        entry.models.iter().find(|model| model.id == id)
    }

    /// The newest sensible model of the first provider with a key. `None` without any key.
    pub fn default_model(&self, keys: &Keys) -> Option<Model> {
        let default = |provider: &str| {
            let model = self.known(provider, self.default_of(provider)?)?;
            Some(self.located(model, keys))
        };
        let with_key = |provider: &&str| match self.provider_auth(provider).key_location(keys) {
            Ok(place) => place != KeyLocation::None,
            Err(_) => false,
        };
        let mut built_in = self.built_in().providers().filter(with_key);
        built_in.find_map(default).or_else(|| {
            let mut own = self.user().keys();
            own.find_map(|id| default(id).filter(|_| self.has_key(id, keys)))
        })
    }

    /// A model with what all models of `provider` share: API, address and quirks. It need not exist.
    pub fn provider_template(&self, provider: &str, keys: &Keys) -> Option<Model> {
        let id = self.default_of(provider).unwrap_or_default();
        Some(self.located(self.unlisted(provider, id)?, keys))
    }

    /// All models, the user's first, then the built-in ones by provider, each with its actual address.
    /// The first call parses the whole built-in list, which takes milliseconds: don't call it before the
    /// first frame.
    pub fn models(&self, keys: &Keys) -> impl Iterator<Item = Arc<Model>> {
        let all = self.all.get_or_init(|| {
            let mut models = Vec::new();
            let mut taken = HashSet::new();
            for (provider, entry) in self.user() {
                for model in &entry.models {
                    if taken.insert((provider.as_str(), model.id.as_str())) {
                        models.extend(self.known(provider, &model.id).map(Arc::new));
                    }
                }
            }
            for (provider, entries) in self.built_in().all().unwrap_or_default() {
                for entry in &entries {
                    if self.own(provider, &entry.id).is_none() {
                        let model = self.assemble(provider, &entry.id, Some(entry));
                        models.extend(model.map(Arc::new));
                    }
                }
            }
            models
        });
        all.iter().map(|model| match self.base_url(model, keys) {
            own if own == model.base_url => Arc::clone(model),
            _ => Arc::new(self.located(Model::clone(model), keys)),
        })
    }

    /// Provider and id of all models, the user's first.
    pub fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
        let user = self.user().iter().flat_map(|(provider, entry)| {
            let ids = entry.models.iter().map(|model| model.id.as_str());
            ids.map(move |id| (provider.as_str(), id))
        });
        let built_in = self.built_in().model_ids();
        user.chain(built_in.filter(|(provider, id)| self.own(provider, id).is_none()))
    }

    /// The ids of all providers, the user's first.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        let built_in = self.built_in().providers();
        let other = built_in.filter(|id| !self.user().contains_key(*id));
        self.user().keys().map(String::as_str).chain(other)
    }

    /// The first provider of the user's own without models, if there is one.
    pub fn provider_without_models(&self) -> Option<&str> {
        let mut own = self.user().keys().map(String::as_str);
        own.find(|id| self.built_in().provider(id).is_none() && self.default_of(id).is_none())
    }

    /// The error about a provider of the user's own without models.
    pub fn has_no_models(&self, provider: &str) -> String {
        format!(
            "providers.{provider} has no models. Add models = [{{ id = \"MODEL\" }}] to it in {}, or type \
             {provider}/MODEL",
            self.file.display()
        )
    }

    /// The id of the default model of `provider`.
    pub fn default_of(&self, provider: &str) -> Option<&str> {
        let user = self.user().get(provider);
        let mut entries = user.into_iter().chain(self.built_in().provider(provider));
        let named = entries.find_map(|entry| entry.default.as_deref());
        named.or_else(|| Some(user?.models.first()?.id.as_str()))
    }

    /// Whether `provider` has a key or needs none. Fetches nothing.
    pub fn has_key(&self, provider: &str, keys: &Keys) -> bool {
        self.provider_auth(provider).key_location(keys).is_ok()
    }

    /// The facts that decide where the key of `provider` comes from.
    pub fn provider_auth<'a>(&'a self, provider: &'a str) -> ProviderAuth<'a> {
        let user = self.user().get(provider);
        let variables = match (user, self.built_in().provider(provider)) {
            (Some(entry), _) if !entry.env.is_empty() => &entry.env[..],
            (_, Some(entry)) => &entry.env,
            _ => &[],
        };
        ProviderAuth {
            provider,
            api_key: user.and_then(|entry| entry.api_key.as_deref()),
            variables,
            key_in_headers: user.is_some_and(ProviderEntry::has_key_header),
            models_file: &self.file,
        }
    }

    /// The headers for `provider`, the user's over the built-in ones, each as written.
    pub fn headers(&self, provider: &str) -> BTreeMap<&str, &str> {
        let built_in = self.built_in().provider(provider);
        let entries = built_in.into_iter().chain(self.user().get(provider));
        let headers = entries.flat_map(|entry| &entry.headers);
        headers
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// The variables that can have keys, for all providers.
    pub fn key_variables(&self) -> Vec<String> {
        let mut names = Vec::new();
        for entry in self
            .built_in()
            .head()
            .providers
            .values()
            .chain(self.user().values())
        {
            names.extend(entry.env.iter().cloned());
            let written = entry.headers.values().chain(&entry.api_key);
            names.extend(written.filter_map(|text| match KeySpec::parse(text) {
                KeySpec::Variable(name) => Some(name),
                _ => None,
            }));
        }
        names
    }

    /// The literal keys in `models.toml`.
    pub fn literal_keys(&self) -> Vec<(String, Secret)> {
        let written = self.user().iter();
        let written = written.filter_map(|(name, entry)| Some((name, entry.api_key.as_ref()?)));
        let literal = written.filter_map(|(name, text)| match KeySpec::parse(text) {
            KeySpec::Literal(key) => Some((name.clone(), key)),
            _ => None,
        });
        literal.collect()
    }

    /// The address of `model`: its own, or the one from the environment (`ANTHROPIC_BASE_URL` and
    /// others) unless `models.toml` sets it.
    pub fn base_url<'a>(&self, model: &'a Model, keys: &'a Keys) -> &'a str {
        match self.base_url_variable(model, keys) {
            Some((_, base_url)) => base_url,
            None => &model.base_url,
        }
    }

    /// Where the address of `model` comes from.
    pub fn address_source(&self, model: &Model, keys: &Keys) -> AddressSource {
        let provider = &model.provider;
        if let Some((name, _)) = self.base_url_variable(model, keys) {
            AddressSource::Variable(name)
        } else if !self.is_settled(model) && LocalServer::from_id(provider).is_some() {
            AddressSource::Local(provider.clone())
        } else if !self.is_settled(model) && self.built_in().provider(provider).is_some() {
            AddressSource::BuiltIn
        } else {
            AddressSource::ModelsFile(provider.clone())
        }
    }

    /// Whether `models.toml` sets its address.
    fn is_settled(&self, model: &Model) -> bool {
        let provider = self.user().get(&model.provider);
        let own = self.own(&model.provider, &model.id);
        provider.is_some_and(|entry| entry.base_url.is_some())
            || own.is_some_and(|own| own.base_url.is_some())
    }

    /// The variable with the address of `model`, and the address.
    fn base_url_variable<'a>(&self, model: &Model, keys: &'a Keys) -> Option<(String, &'a str)> {
        // By default, LAB_BASE_URL goes with LAB_API_KEY.
        let entry = self.built_in().provider(&model.provider)?;
        let beside_key =
            || Some(entry.env.first()?.strip_suffix("_API_KEY")?.to_owned() + "_BASE_URL");
        let variable = entry.base_url_env.clone().or_else(beside_key)?;
        let base_url = keys.get(&variable).filter(|_| !self.is_settled(model))?;
        Some((variable, base_url))
    }

    /// `model` with its actual address.
    pub fn located(&self, mut model: Model, keys: &Keys) -> Model {
        let base_url = self.base_url(&model, keys).to_owned();
        if base_url != model.base_url {
            model.base_url = base_url;
            model = self.with_quirks(model);
        }
        let location = self.provider_auth(&model.provider).key_location(keys);
        model.quirks.bearer |= location.is_ok_and(|it| it.is_token());
        model
    }

    /// `model` with the quirks of the server at its address.
    pub fn with_quirks(&self, mut model: Model) -> Model {
        let built_in = self.built_in().model(&model.provider, &model.id);
        model.quirks = self.quirks(&model, built_in.as_ref());
        model
    }

    /// Builds a model from its provider's entry, its built-in entry and the user's entries for both.
    /// Each overrides the one before.
    fn assemble(&self, provider: &str, id: &str, built_in: Option<&ModelEntry>) -> Option<Model> {
        let header = self.built_in().provider(provider);
        let user = self.user().get(provider);
        let own = self.own(provider, id);
        if user.is_none() && header.is_none() {
            return None;
        }
        let layers = || user.into_iter().chain(header);
        let api = layers()
            .find_map(|entry| entry.api)
            .unwrap_or(Api::OpenAiChat);
        let base_url = layers().find_map(|entry| entry.base_url.as_deref());
        let mut model = Model::new(provider, id, api, base_url.unwrap_or_default());
        model.context_window = 0;
        if let Some(header) = header {
            options::overlay(&mut model.options, &header.options);
        }
        if let Some(entry) = built_in {
            entry.apply(&mut model);
        }
        if let Some(user) = user {
            // A user's address for a built-in provider applies to all of its models.
            if let Some(base_url) = &user.base_url {
                model.base_url.clone_from(base_url);
            }
            options::overlay(&mut model.options, &user.options);
        }
        if let Some(own) = own {
            own.apply(&mut model);
        }
        let families = self.families(&model, provider);
        let written = [own, built_in].map(|entry| entry.and_then(|entry| entry.edit_format));
        let format = written.into_iter().flatten().next();
        let family = families.iter().rev().find_map(|family| family.edit_format);
        model.edit_format = format.or(family).unwrap_or_default();
        // The model's own value wins, then the last family's.
        for family in families.iter().rev() {
            for (tier, factor) in &family.service_tiers {
                let tiers = &mut model.prices.service_tiers;
                tiers.entry(tier.clone()).or_insert(*factor);
            }
        }
        model.quirks = self.quirks(&model, built_in);
        (model.context_window, model.window_source) =
            window::of(model.context_window, self.options.context_window);
        Some(model)
    }

    /// The quirks of the server at the address of `model`. The address identifies a host, regardless of
    /// the user's name for it. A provider behind a proxy keeps its own quirks.
    fn quirks(&self, model: &Model, built_in: Option<&ModelEntry>) -> Quirks {
        let head = self.built_in().head();
        let at_home = self.built_in().host_at(&model.base_url);
        let host = at_home.unwrap_or(&model.provider);
        let elsewhere = (host != model.provider)
            .then(|| self.built_in().model(host, &model.id))
            .flatten();
        let of_model = if host == model.provider {
            built_in
        } else {
            elsewhere.as_ref()
        };
        let of_host = match self.built_in().provider(host) {
            Some(provider) => Some(&provider.quirks),
            None => head.hosts.get(host).map(|host| &host.quirks),
        };
        let families = self.families(model, host).into_iter();
        let mut quirks = families
            .map(|family| &family.quirks)
            .chain(of_host)
            .chain(of_model.map(|entry| &entry.quirks))
            .fold(Quirks::of_api(model.api), Quirks::with);
        // A proxy may not know them.
        for optional in [
            &mut quirks.cache_key,
            &mut quirks.eager_tool_input,
            &mut quirks.betas,
            &mut quirks.open_output,
            &mut quirks.effort_updates,
        ] {
            *optional &= at_home.is_some();
        }
        let user = self.user().get(&model.provider).map(|entry| &entry.quirks);
        let own = self.own(&model.provider, &model.id);
        let users = user.into_iter().chain(own.map(|entry| &entry.quirks));
        users.fold(quirks, Quirks::with)
    }

    /// The families of `model` at `host`, the user's last.
    fn families(&self, model: &Model, host: &str) -> Vec<&Family> {
        let all = self
            .built_in()
            .head()
            .families
            .iter()
            .chain(&self.user.families);
        all.filter(|family| family.matches(&model.id, model.api, host))
            .collect()
    }
}

/// A provider that only the user knows needs an API and an address.
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
                "providers.{id}: '{key}' is missing. Add it, for example {key} = \"{example}\""
            ));
        }
    }
    Ok(())
}
