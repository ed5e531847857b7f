//! Keys and base URLs from the environment, held as a map so that tests need no real environment.
//!
//! Never prints a key: `Debug` of everything here shows names only.

use std::collections::HashMap;
use std::fmt;

/// A key. Shown as `***` by `Debug`; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key, without surrounding white space (a pasted line end is no part of it).
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The key itself, for the header it goes into and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The environment as far as models are concerned: keys, base URLs and what `$NAME` in
/// `models.toml` stands for.
#[derive(Clone, Default)]
pub struct Keys {
    variables: HashMap<String, String>,
}

impl Keys {
    /// The process's environment as it is now. Variables that are not Unicode are left out.
    pub fn from_env() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The value of the variable `name`; one that is empty counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }
}

impl FromIterator<(String, String)> for Keys {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("variables", &self.variables.len())
            .finish()
    }
}
