//! Keys and base URLs from the environment, held as a map so that tests need no real environment.
//!
//! Never prints a key: `Debug` of everything here shows names only.

use std::collections::HashMap;
use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::super::{KeySource, Secret};
    use super::*;

    #[test]
    fn debug_output_never_shows_a_key() {
        let keys: Keys = [("LAB_KEY".to_owned(), "sk-very-secret".to_owned())]
            .into_iter()
            .collect();
        let shown = format!(
            "{keys:?} {:?} {:?}",
            Secret::new("sk-very-secret"),
            KeySource::parse("sk-very-secret")
        );
        assert!(!shown.contains("very"), "{shown}");
        assert_eq!(keys.get("LAB_KEY"), Some("sk-very-secret"));
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let keys: Keys = [("A".to_owned(), "  ".to_owned())].into_iter().collect();
        assert_eq!(keys.get("A"), None);
    }
}
