//! The catalogue as everybody asks it: what a name means, which models there are, where a model is
//! reached and with which key. Always as the user's `models.toml` says now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::builtin::BuiltIn;
use super::error::CatalogError;
use super::naming::Resolver;
use super::reloading::ReloadingFile;
use crate::llm::auth::{KeyLocation, KeySpec, Keys};
use crate::llm::error::LlmError;
use crate::llm::model::{Model, ThinkingLevel};

/// All models that can be named. The user's file is looked at with each question and read again when
/// it has changed; one that is broken changes nothing and is told by [`Catalog::take_trouble`].
#[derive(Default)]
pub struct Catalog {
    reloading: ReloadingFile,
    aliases: BTreeMap<String, String>,
}

/// What the settings say about models.
#[derive(Clone, Default)]
pub struct CatalogOptions {
    /// The user's own names, and what they stand for.
    pub aliases: BTreeMap<String, String>,
    /// The window, in tokens, of models that do not tell theirs; 0 when nothing is set.
    pub context_window: u64,
    /// The catalogue beneath the user's file.
    pub built_in: Arc<BuiltIn>,
}

/// One row of a list of models.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// The model.
    pub model: Arc<Model>,
    /// Whether there is a key for its provider, or it needs none.
    pub has_key: bool,
}

impl Catalog {
    /// Reads the user's `models.toml`; a file that is not there is an empty one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn load(user_file: &Path) -> Result<Self, CatalogError> {
        Self::open(user_file, CatalogOptions::default())
    }

    /// The same with what the settings say.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn open(user_file: &Path, options: CatalogOptions) -> Result<Self, CatalogError> {
        Ok(Self {
            reloading: ReloadingFile::open(user_file, options.built_in, options.context_window)
                .map_err(CatalogError)?,
            aliases: options.aliases,
        })
    }

    /// The model the user means by an alias, by `provider/id` or by a part of an id, with an optional
    /// `:thinking`, and the thinking level if one was named. Of several that fit, one with a key is
    /// meant.
    ///
    /// # Errors
    /// Nothing or several models fit; the error lists what could be meant and says what to type.
    pub fn resolve(
        &self,
        name: &str,
        keys: &Keys,
    ) -> Result<(Model, Option<ThinkingLevel>), CatalogError> {
        let snapshot = self.reloading.snapshot();
        let names = Resolver {
            snapshot: &snapshot,
            aliases: &self.aliases,
            keys,
        };
        let (model, level) = names.resolve(name)?;
        Ok((snapshot.located(model, keys), level))
    }

    /// The newest sensible model of the first provider that has a key, built-in providers first;
    /// nothing without any key.
    pub fn default_model(&self, keys: &Keys) -> Option<Model> {
        let snapshot = self.reloading.snapshot();
        let default = |provider: &str| {
            let model = snapshot.known(provider, snapshot.default_of(provider)?)?;
            Some(snapshot.located(model, keys))
        };
        let with_key = |provider: &&str| match snapshot.provider_auth(provider).key_location(keys) {
            Ok(place) => place != KeyLocation::None,
            Err(_) => false,
        };
        let mut built_in = snapshot.built_in().providers().filter(with_key);
        built_in.find_map(default).or_else(|| {
            let mut own = snapshot.user().keys();
            own.find_map(|id| default(id).filter(|_| snapshot.has_key(id, keys)))
        })
    }

    /// All models, the user's first, then the built-in ones by provider. The
    /// first call parses the whole built-in list (some milliseconds): not for the way to the first
    /// frame. Later calls cost microseconds until `models.toml` changes.
    pub fn models(&self, keys: &Keys) -> Vec<CatalogEntry> {
        let snapshot = self.reloading.snapshot();
        let mut asked: BTreeMap<&str, bool> = BTreeMap::new();
        let models = snapshot.models();
        let mut list = Vec::with_capacity(models.len());
        for model in models.iter() {
            let has_key = *asked
                .entry(&model.provider)
                .or_insert_with(|| snapshot.has_key(&model.provider, keys));
            let model = match snapshot.base_url(model, keys) {
                own if own == model.base_url => Arc::clone(model),
                _ => Arc::new(snapshot.located(Model::clone(model), keys)),
            };
            list.push(CatalogEntry { model, has_key });
        }
        list
    }

    /// The day of the facts of the built-in models, `YYYY-MM-DD`.
    pub fn as_of(&self) -> String {
        self.reloading.snapshot().built_in().as_of().to_owned()
    }

    /// The user's own names for models, and what they stand for.
    pub fn aliases(&self) -> &BTreeMap<String, String> {
        &self.aliases
    }

    /// What is wrong with `models.toml` since it changed last, for the user to read. Told once; what
    /// the file said before stays in force.
    pub fn take_trouble(&self) -> Option<String> {
        self.reloading.take_trouble()
    }

    /// Whether `provider/id` stands in the user's file.
    pub fn is_own(&self, provider: &str, id: &str) -> bool {
        self.reloading.snapshot().own(provider, id).is_some()
    }

    /// Where the key of `provider` is, without fetching it.
    ///
    /// # Errors
    /// A missing key, as an [`ErrorClass::Auth`](crate::llm::ErrorClass::Auth) error that says what
    /// was looked for, where, and the exact line that sets it.
    pub fn key_location(&self, provider: &str, keys: &Keys) -> Result<KeyLocation, LlmError> {
        self.reloading
            .snapshot()
            .provider_auth(provider)
            .key_location(keys)
    }

    /// The ids of all providers, the user's first.
    pub fn providers(&self) -> Vec<String> {
        let snapshot = self.reloading.snapshot();
        snapshot.providers().map(str::to_owned).collect()
    }

    /// A model of `provider`, for what all of them share: API, address and quirks.
    pub fn any_model(&self, provider: &str, keys: &Keys) -> Option<Model> {
        let snapshot = self.reloading.snapshot();
        let id = snapshot.default_of(provider).unwrap_or_default();
        Some(snapshot.located(snapshot.unlisted(provider, id)?, keys))
    }

    /// `model` of a server that was found rather than listed, with what is known of such servers.
    pub fn with_quirks(&self, model: Model) -> Model {
        self.reloading.snapshot().with_quirks(model)
    }

    /// The variables that keys are looked for in, those of all providers.
    pub fn key_variables(&self) -> Vec<String> {
        self.reloading.snapshot().key_variables()
    }

    /// The headers sent to `provider`, each with where its value comes from, and the user's file.
    pub fn headers(&self, provider: &str) -> (Vec<(String, KeySpec)>, PathBuf) {
        let snapshot = self.reloading.snapshot();
        let headers = snapshot.headers(provider).into_iter();
        let headers = headers.map(|(name, value)| (name.to_owned(), KeySpec::parse(value)));
        (headers.collect(), snapshot.file().to_owned())
    }

    /// The line that sets the key of `provider`, for a server that refused the one it got.
    pub fn key_hint(&self, provider: &str) -> String {
        self.reloading.snapshot().provider_auth(provider).hint()
    }
}
