//! Where the key of a provider is: one order for all of them. Fetches nothing.
//!
//! What the user wrote for the provider in `models.toml` wins; then the environment.

use std::path::Path;

use super::{KeySource, Keys, Secret};
use crate::llm::error::{ErrorClass, LlmError};

/// A provider as far as its key is concerned.
#[derive(Clone, Copy)]
pub struct Owner<'a> {
    /// Its id.
    pub provider: &'a str,
    /// `api_key` of `models.toml`.
    pub api_key: Option<&'a str>,
    /// The variables its key is looked for in.
    pub variables: &'a [String],
    /// The user's `models.toml`, for what is said when there is no key.
    pub models_file: &'a Path,
}

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The provider needs none.
    None,
    /// `models.toml` holds it.
    Literal(Secret),
    /// `models.toml` names this variable.
    Named(String, Secret),
    /// A variable of the environment.
    Environment(String, Secret),
}

impl Place {
    /// The key, when it is at hand.
    pub fn at_hand(self) -> Option<Secret> {
        match self {
            Self::None => None,
            Self::Literal(key) | Self::Named(_, key) | Self::Environment(_, key) => Some(key),
        }
    }
}

impl Owner<'_> {
    /// Where its key is.
    ///
    /// # Errors
    /// No key, as an [`ErrorClass::Auth`] error that says what was looked for, where, and the exact
    /// line that sets it.
    pub fn place(&self, keys: &Keys) -> Result<Place, LlmError> {
        let provider = self.provider;
        let file = self.models_file.display();
        match self.api_key.map(KeySource::parse) {
            Some(KeySource::Literal(key)) => return Ok(Place::Literal(key)),
            Some(KeySource::Variable(name)) => {
                let Some(key) = keys.get(&name) else {
                    let looked = format!("{file} takes it from ${name}, which is not set");
                    return Err(self.missing(&looked, &name));
                };
                let key = Secret::new(key);
                return Ok(Place::Named(name, key));
            }
            Some(KeySource::Command(_)) => {
                let what = format!(
                    "{file}: api_key of {provider} is a command (\"!...\"), which is not available yet"
                );
                return Err(LlmError::new(ErrorClass::Auth, what)
                    .with_hint("Use a variable for now: api_key = \"$NAME\""));
            }
            None => {}
        }
        let found = self
            .variables
            .iter()
            .find_map(|name| Some((name, keys.get(name)?)));
        if let Some((name, key)) = found {
            return Ok(Place::Environment(name.clone(), Secret::new(key)));
        }
        let Some(first) = self.variables.first() else {
            return Ok(Place::None);
        };
        let looked = format!(
            "{} not set in the environment, and {file} has no api_key for it",
            match self.variables {
                [one] => format!("{one} is"),
                several => format!("{} are", several.join(" and ")),
            }
        );
        Err(self.missing(&looked, first))
    }

    /// The line that sets its key, for a server that refused the one it got.
    pub fn hint(&self) -> String {
        let variable = match self.api_key.map(KeySource::parse) {
            Some(KeySource::Variable(name)) => Some(name),
            Some(_) => None,
            None => self.variables.first().cloned(),
        };
        match variable {
            Some(name) => format!("Set a valid key with: export {name}=YOUR_KEY"),
            None => format!(
                "Set a valid key in {}: under [providers.{}] write api_key = \"YOUR_KEY\"",
                self.models_file.display(),
                self.provider
            ),
        }
    }

    fn missing(&self, looked: &str, variable: &str) -> LlmError {
        LlmError::new(
            ErrorClass::Auth,
            format!("no API key for {}: {looked}", self.provider),
        )
        .with_hint(format!("Set it with: export {variable}=YOUR_KEY"))
    }
}
