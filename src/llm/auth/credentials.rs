//! Which credential a provider gets: what `api_key` in `models.toml` says, and where the key is. One
//! order for all providers. Fetches nothing.
//!
//! What the user wrote for the provider in `models.toml` wins; then what `tiller auth add` stored;
//! then the environment; then `.env` of a folder whose `.env` may hold keys. Never the command line,
//! which every program of the machine can read.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Keys, Secret};
use crate::llm::error::{ErrorClass, LlmError};

/// What decides where the key of a provider is.
#[derive(Clone, Copy)]
pub struct ProviderAuth<'a> {
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
pub enum KeyLocation {
    /// The provider needs none.
    None,
    /// `models.toml` holds it.
    Literal(Secret),
    /// `models.toml` names this variable.
    Named(String, Secret),
    /// `models.toml` (this file) names this command.
    Command(String, PathBuf),
    /// `tiller auth add` wrote it into `auth.toml`.
    Stored(Secret),
    /// A variable of the environment.
    Environment(String, Secret),
    /// A variable of this `.env` file.
    EnvFile(String, PathBuf, Secret),
}

impl KeyLocation {
    /// The key itself; none where there is none or a command prints it.
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
    /// Where its key is.
    ///
    /// # Errors
    /// No key, as an [`ErrorClass::Auth`] error that says what was looked for, where, and the exact
    /// line that sets it.
    pub fn key_location(&self, keys: &Keys) -> Result<KeyLocation, LlmError> {
        let file = self.models_file.display();
        match self.api_key.map(KeySpec::parse) {
            Some(KeySpec::Literal(key)) => return Ok(KeyLocation::Literal(key)),
            Some(KeySpec::Variable(name)) => {
                let file_value = || keys.env_file(&name).map(|(value, _)| value);
                let Some(key) = keys.get(&name).map(str::to_owned).or_else(file_value) else {
                    let looked = format!("{file} takes it from ${name}, which is not set");
                    return Err(self.missing(&looked, &name));
                };
                let key = Secret::new(key);
                return Ok(KeyLocation::Named(name, key));
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
        let Some(first) = self.variables.first() else {
            return Ok(KeyLocation::None);
        };
        let looked = format!(
            "none is stored, {} not set in the environment, and {file} has no api_key for it",
            match self.variables {
                [one] => format!("{one} is"),
                several => format!("{} are", several.join(" and ")),
            }
        );
        Err(self.missing(&looked, first))
    }

    /// The line that sets its key, for a server that refused the one it got.
    pub fn hint(&self) -> String {
        let source = self.api_key.map(KeySpec::parse);
        let file = self.models_file.display();
        let provider = self.provider;
        match source {
            Some(KeySpec::Variable(name)) => {
                format!("Set a valid key with: export {name}=YOUR_KEY")
            }
            Some(KeySpec::Command(_)) => format!(
                "The key is what a command printed: look at api_key under [providers.{provider}] in {file}"
            ),
            Some(KeySpec::Literal(_)) => format!(
                "Set a valid key in {file}: under [providers.{provider}] write api_key = \"YOUR_KEY\""
            ),
            None => match self.variables.first() {
                Some(name) => format!(
                    "Set a valid key with: tiller auth add {provider}, or export {name}=YOUR_KEY"
                ),
                None => format!("Set a valid key with: tiller auth add {provider}"),
            },
        }
    }

    fn missing(&self, looked: &str, variable: &str) -> LlmError {
        let provider = self.provider;
        // A key that models.toml takes from a variable is looked for nowhere else.
        let hint = match self.api_key {
            Some(_) => format!("Set it with: export {variable}=YOUR_KEY"),
            None => {
                format!("Set it with: tiller auth add {provider}, or export {variable}=YOUR_KEY")
            }
        };
        let what = format!("no API key for {provider}: {looked}");
        LlmError::new(ErrorClass::Auth, what).with_hint(hint)
    }
}

/// Where a key comes from, as `api_key` in `models.toml` says.
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
    /// Reads an `api_key`: `$NAME` or `${NAME}` is a variable, `!` begins a command, `$$` and `$!`
    /// stand for a literal that begins with `$` or `!`, everything else is the key.
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const VARIABLES: [&str; 2] = ["FIRST_KEY", "SECOND_KEY"];

    /// What there is: `api_key`, whether one is stored and where, the environment, `.env`.
    type Case = (
        Option<&'static str>,
        Option<Secret>,
        &'static [(&'static str, &'static str)],
        &'static [(&'static str, &'static str)],
    );

    fn locate(&(api_key, ref stored, env, env_file): &Case) -> Result<KeyLocation, LlmError> {
        let map = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            pairs.iter().map(own).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        let mut store = super::super::Store::load(&folder.path().join("auth.toml")).unwrap();
        if stored.is_some() {
            store.put("lab", stored.clone()).unwrap();
        }
        let files = move || {
            Ok(super::super::KeyFiles {
                store: store.clone(),
                env_file: Some(("/p/.env".into(), map(env_file))),
            })
        };
        let keys: Keys = map(env).into_iter().collect();
        let keys = keys.with_files(files).unwrap();
        ProviderAuth {
            provider: "lab",
            api_key,
            variables: &VARIABLES.map(str::to_owned),
            models_file: Path::new("/c/models.toml"),
        }
        .key_location(&keys)
    }

    // A7
    #[test]
    fn the_first_of_models_file_store_environment_and_env_file_wins() {
        let key = |text: &'static str| Secret::new(text);
        let stored = || Some(key("stored"));
        let env: &[_] = &[("SECOND_KEY", "e2"), ("LAB_KEY", "e3"), ("FIRST_KEY", " ")];
        let file: &[_] = &[("FIRST_KEY", "f1"), ("LAB_KEY", "f3"), ("OTHER", "f4")];
        let env_file = |name: &str, value: &'static str| {
            KeyLocation::EnvFile(name.to_owned(), "/p/.env".into(), key(value))
        };
        let cases: [(Case, KeyLocation); 10] = [
            (
                (Some("sk-1"), stored(), env, file),
                KeyLocation::Literal(key("sk-1")),
            ),
            (
                (Some("$LAB_KEY"), stored(), env, file),
                KeyLocation::Named("LAB_KEY".into(), key("e3")),
            ),
            (
                (Some("$LAB_KEY"), stored(), &[], file),
                KeyLocation::Named("LAB_KEY".into(), key("f3")),
            ),
            (
                (Some("!pass show lab"), stored(), env, file),
                KeyLocation::Command("pass show lab".into(), "/c/models.toml".into()),
            ),
            (
                (None, stored(), env, file),
                KeyLocation::Stored(key("stored")),
            ),
            (
                (None, stored(), &[], &[]),
                KeyLocation::Stored(key("stored")),
            ),
            (
                (None, None, env, file),
                KeyLocation::Environment("SECOND_KEY".into(), key("e2")),
            ),
            (
                (
                    None,
                    None,
                    &[("FIRST_KEY", "e1"), ("SECOND_KEY", "e2")],
                    file,
                ),
                KeyLocation::Environment("FIRST_KEY".into(), key("e1")),
            ),
            ((None, None, &[], file), env_file("FIRST_KEY", "f1")),
            (
                (None, None, &[("OTHER", "x")], &[("SECOND_KEY", "f2")]),
                env_file("SECOND_KEY", "f2"),
            ),
        ];
        for (case, expected) in cases {
            assert_eq!(locate(&case).unwrap(), expected, "{case:?}");
        }
        assert!(locate(&(None, None, &[("OTHER", "x")], &[("OTHER", "x")])).is_err());
        let unset = locate(&(Some("$LAB_KEY"), stored(), &[], &[])).unwrap_err();
        assert!(
            unset.message.contains("$LAB_KEY, which is not set"),
            "{unset}"
        );
    }

    #[test]
    fn an_api_key_is_a_literal_a_variable_or_a_command() {
        let cases = [
            ("sk-1", KeySpec::Literal(Secret::new("sk-1"))),
            (" sk-1\n", KeySpec::Literal(Secret::new("sk-1"))),
            ("$LAB_KEY", KeySpec::Variable("LAB_KEY".into())),
            ("${LAB_KEY}", KeySpec::Variable("LAB_KEY".into())),
            ("$$x", KeySpec::Literal(Secret::new("$x"))),
            ("$!x", KeySpec::Literal(Secret::new("!x"))),
            ("!pass show lab", KeySpec::Command("pass show lab".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(KeySpec::parse(text), expected, "{text}");
        }
    }
}
