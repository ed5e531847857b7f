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

/// Where a key comes from, as `api_key` in `models.toml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The key itself.
    Literal(Secret),
    /// The environment variable of this name.
    Variable(String),
    /// The output of a command.
    Command(String),
}

impl KeySource {
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
    use super::*;

    #[test]
    fn an_api_key_is_a_literal_a_variable_or_a_command() {
        let cases = [
            ("sk-1", KeySource::Literal(Secret::new("sk-1"))),
            (" sk-1\n", KeySource::Literal(Secret::new("sk-1"))),
            ("$LAB_KEY", KeySource::Variable("LAB_KEY".into())),
            ("${LAB_KEY}", KeySource::Variable("LAB_KEY".into())),
            ("$$x", KeySource::Literal(Secret::new("$x"))),
            ("$!x", KeySource::Literal(Secret::new("!x"))),
            ("!pass show lab", KeySource::Command("pass show lab".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(KeySource::parse(text), expected, "{text}");
        }
    }

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
