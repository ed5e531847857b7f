//! Decides which credential a provider gets, in one order for all providers. Fetches nothing.
//!
//! First comes `api_key` in `models.toml`, then the key from `tiller auth add`, then the environment,
//! then `.env` in a folder that may provide keys. Never the command line, which every program on the
//! machine can read.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Keys, Secret};
use crate::error::{ErrorClass, LlmError};

/// The facts that decide where a provider's key comes from.
#[derive(Clone, Copy)]
pub struct ProviderAuth<'a> {
    /// Its id.
    pub provider: &'a str,
    /// `api_key` of `models.toml`.
    pub api_key: Option<&'a str>,
    /// The variables that can have its key.
    pub variables: &'a [String],
    /// Whether `headers` of `models.toml` have its key, so that it needs no other.
    pub key_in_headers: bool,
    /// The user's `models.toml`, for errors about a missing key.
    pub models_file: &'a Path,
}

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyLocation {
    /// The provider needs none.
    None,
    /// Written in `models.toml`.
    Literal(Secret),
    /// In this variable, named in `models.toml`.
    Named(String, Secret),
    /// The output of this command, named in this `models.toml`.
    Command(String, PathBuf),
    /// In `auth.toml`, stored by `tiller auth add`.
    Stored(Secret),
    /// In this environment variable.
    Environment(String, Secret),
    /// In a variable of this `.env` file.
    EnvFile(String, PathBuf, Secret),
}

impl KeyLocation {
    /// The key itself, unless there is none or a command prints it.
    pub fn inline(&self) -> Option<&Secret> {
        match self {
            Self::None | Self::Command(..) => None,
            Self::Literal(key)
            | Self::Named(_, key)
            | Self::Stored(key)
            | Self::Environment(_, key)
            | Self::EnvFile(_, _, key) => Some(key),
        }
    }

    /// Whether it is a token such as `ANTHROPIC_AUTH_TOKEN`, which goes into the header `authorization`.
    pub(crate) fn is_token(&self) -> bool {
        match self {
            Self::Named(name, _) | Self::Environment(name, _) | Self::EnvFile(name, ..) => {
                name.ends_with("_AUTH_TOKEN")
            }
            Self::None | Self::Literal(_) | Self::Command(..) | Self::Stored(_) => false,
        }
    }
}

impl fmt::Display for KeyLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none needed"),
            Self::Literal(_) => f.write_str("models.toml"),
            Self::Named(name, _) => write!(f, "models.toml, variable {name}"),
            Self::Command(..) => f.write_str("models.toml, a command"),
            Self::Stored(_) => f.write_str("auth.toml"),
            Self::Environment(name, _) => write!(f, "environment variable {name}"),
            Self::EnvFile(name, file, _) => write!(f, "{name} in {}", file.display()),
        }
    }
}

impl ProviderAuth<'_> {
    /// Where its key comes from.
    ///
    /// # Errors
    /// An [`ErrorClass::Auth`] error if there is no key: where tiller looked, and the exact line that
    /// sets it.
    pub fn key_location(&self, keys: &Keys) -> Result<KeyLocation, LlmError> {
        let file = self.models_file.display();
        match self.api_key.map(KeySpec::parse) {
            Some(KeySpec::Literal(key)) => return Ok(KeyLocation::Literal(key)),
            Some(KeySpec::Variable(name)) => {
                let file_value = || keys.env_file(&name).map(|(value, _)| value);
                let Some(key) = keys.get(&name).map(str::to_owned).or_else(file_value) else {
                    let looked = format!("{file} reads it from ${name}, which isn't set");
                    return Err(self.missing(&looked));
                };
                return Ok(KeyLocation::Named(name, Secret::new(key)));
            }
            Some(KeySpec::Command(command)) => {
                return Ok(KeyLocation::Command(command, self.models_file.to_owned()));
            }
            None => {}
        }
        if let Some(key) = keys.store().get(self.provider) {
            return Ok(KeyLocation::Stored(key.clone()));
        }
        for name in self.variables {
            if let Some(key) = keys.get(name) {
                return Ok(KeyLocation::Environment(name.clone(), Secret::new(key)));
            }
        }
        for name in self.variables {
            if let Some((key, path)) = keys.env_file(name) {
                return Ok(KeyLocation::EnvFile(name.clone(), path, Secret::new(key)));
            }
        }
        if self.variables.is_empty() || self.key_in_headers {
            return Ok(KeyLocation::None);
        }
        let looked = format!(
            "none is stored, {} set, and {file} has no api_key for it",
            match self.variables {
                [one] => format!("{one} isn't"),
                several => format!("{} aren't", several.join(" and ")),
            }
        );
        Err(self.missing(&looked))
    }

    /// The places of other keys that tiller doesn't use, because one at `used` takes precedence.
    pub fn ignored(&self, keys: &Keys, used: &KeyLocation) -> Vec<String> {
        let is_used = |name: &String| used.to_string().contains(name.as_str());
        let in_models = self.api_key.is_some() && keys.store().get(self.provider).is_some();
        let stored = in_models.then(|| "auth.toml".to_owned());
        let set = self
            .variables
            .iter()
            .filter(|name| keys.get(name).is_some());
        stored
            .into_iter()
            .chain(set.filter(|name| !is_used(name)).cloned())
            .collect()
    }

    /// Which key a server refused, and how to replace it.
    pub fn hint(&self, keys: &Keys) -> String {
        let (provider, file) = (self.provider, self.models_file.display());
        let in_file = format!("api_key under [providers.{provider}] in {file}");
        let Ok(location) = self.key_location(keys) else {
            return format!("Set a valid key with: {}", self.set_command());
        };
        match (location.inline(), &location) {
            (Some(_), KeyLocation::Literal(_)) => format!("Set a valid {in_file}"),
            // It takes precedence over the variables.
            (Some(key), KeyLocation::Stored(_)) => {
                let key = format!("It was the key in auth.toml ({})", key.masked());
                let set = self.variables.iter().find(|name| keys.get(name).is_some());
                match set {
                    Some(name) => format!(
                        "{key}. {name} is set but not used; to use it: tiller auth remove {provider}"
                    ),
                    None => format!(
                        "{key}. Replace it: tiller auth add {provider}; inside tiller: /login {provider}"
                    ),
                }
            }
            (Some(key), _) => format!(
                "It was the key in {location} ({}). Set a valid key with: {}",
                key.masked(),
                self.set_command()
            ),
            (None, KeyLocation::None) => format!("Set a valid key with: {}", self.set_command()),
            (None, _) => format!("The key came from a command: check {in_file}"),
        }
    }

    fn missing(&self, looked: &str) -> LlmError {
        let what = format!("no API key for {}: {looked}", self.provider);
        let hint = format!("Set it with: {}", self.set_command());
        LlmError::new(ErrorClass::Auth, what).with_hint(hint)
    }

    fn set_command(&self) -> String {
        let provider = self.provider;
        let add = format!("tiller auth add {provider}");
        let login = format!("inside tiller: /login {provider}");
        match (self.api_key.map(KeySpec::parse), self.variables.first()) {
            // tiller looks nowhere else.
            (Some(KeySpec::Variable(name)), _) => format!("export {name}=YOUR_KEY"),
            (_, Some(name)) => format!("{add}, or export {name}=YOUR_KEY; {login}"),
            (_, None) => format!("{add}; {login}"),
        }
    }
}

/// The meaning of an `api_key` in `models.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySpec {
    /// The key itself.
    Literal(Secret),
    /// The environment variable of this name.
    Variable(String),
    /// The output of a command.
    Command(String),
}

impl KeySpec {
    /// Parses an `api_key`: `$NAME` or `${NAME}` is a variable, and `!` starts a command. `$$` and
    /// `$!` start a literal `$` or `!`. Anything else is the key.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(command) = text.strip_prefix('!') {
            return Self::Command(command.trim().to_owned());
        }
        match text.strip_prefix('$') {
            Some(rest) if rest.starts_with(['$', '!']) => Self::Literal(Secret::new(rest)),
            Some(name) => {
                let braced = name
                    .strip_prefix('{')
                    .and_then(|name| name.strip_suffix('}'));
                Self::Variable(braced.unwrap_or(name).to_owned())
            }
            None => Self::Literal(Secret::new(text)),
        }
    }
}
