//! Which models there are: the built-in ones and those of the user's `models.toml`.

use std::path::Path;

use super::auth::{Keys, Secret};
use super::error::LlmError;
use super::model::{Api, Model, ThinkingLevel};

/// What is wrong with a model's name or with `models.toml`, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

/// All models that can be named.
#[derive(Clone, Debug, Default)]
pub struct Catalog {}

impl Catalog {
    /// Reads the user's `models.toml`; a file that is not there is an empty one.
    pub fn load(_user_file: &Path) -> Result<Self, CatalogError> {
        Ok(Self {})
    }

    /// The model a person means by `provider/id`, `provider/id:thinking` or a short pattern, and
    /// the thinking level if one was named.
    pub fn resolve(&self, name: &str) -> Result<(Model, Option<ThinkingLevel>), CatalogError> {
        let (provider, id) = name
            .split_once('/')
            .ok_or_else(|| CatalogError(format!("unknown model '{name}'")))?;
        let model = Model::new(
            provider,
            id,
            Api::AnthropicMessages,
            "https://api.anthropic.com",
        );
        Ok((model, None))
    }

    /// The newest sensible model of the first provider that has a key; nothing without any key.
    pub fn default_model(&self, keys: &Keys) -> Option<Model> {
        keys.get("ANTHROPIC_API_KEY")?;
        self.resolve("anthropic/claude-sonnet-5-5")
            .ok()
            .map(|(model, _)| model)
    }

    /// All models, the user's first. Parses the whole built-in list: not for the way to the first
    /// frame.
    pub fn models(&self) -> Vec<Model> {
        Vec::new()
    }

    /// The key for `provider`: nothing when the provider needs none.
    ///
    /// # Errors
    /// A missing key, as an [`ErrorClass::Auth`](super::ErrorClass) error that says what was
    /// looked for, where, and the exact line that sets it.
    pub fn key(&self, provider: &str, keys: &Keys) -> Result<Option<Secret>, LlmError> {
        let _ = provider;
        Ok(keys.get("ANTHROPIC_API_KEY").map(Secret::new))
    }
}
