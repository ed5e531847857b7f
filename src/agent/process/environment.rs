//! The environment of a command: quiet, and without secrets.
//!
//! Decides by name only. A secret under an innocent name gets through, which is why the patterns
//! are a setting.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Keeps programs from paging, prompting and coloring.
const QUIET: [(&str, &str); 5] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// Decides which variables are secret.
#[derive(Debug, Default)]
pub struct Secrets(GlobSet);

impl Secrets {
    /// Globs over names, ignoring case. Invalid ones are literal: a typo must not hide too little.
    pub fn new(patterns: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            // Lowercases instead of using the case-insensitive option, which would turn each glob
            // into a regex, compiled at every start.
            let pattern = pattern.to_ascii_lowercase();
            if let Ok(glob) = Glob::new(&pattern).or_else(|_| Glob::new(&globset::escape(&pattern)))
            {
                set.add(glob);
            }
        }
        Self(set.build().unwrap_or_default())
    }

    /// True if the variable `name` is secret.
    pub fn hide(&self, name: &OsStr) -> bool {
        self.0.is_match(Path::new(&name.to_ascii_lowercase()))
    }
    /// The variables that a command sees: tiller's without secrets, and some that keep it quiet.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_quiet = |name: &OsStr| QUIET.iter().any(|(quiet, _)| name == *quiet);
        std::env::vars_os()
            .filter(|(name, _)| !self.hide(name) && !is_quiet(name))
            .map(|(name, value)| {
                let value = without_password(&name, value);
                (name, value)
            })
            .chain(QUIET.map(|(name, value)| (name.into(), value.into())))
            .collect()
    }

    /// The same, with more variables. Secret ones stay hidden.
    pub fn environment_with(&self, more: &[(String, String)]) -> Vec<(OsString, OsString)> {
        let mut all = self.environment();
        for (name, value) in more.iter().filter(|(name, _)| !self.hide(OsStr::new(name))) {
            all.retain(|(known, _)| known.as_os_str() != OsStr::new(name));
            all.push((name.into(), value.into()));
        }
        all
    }
}

/// Says that `output` names one of the variables `hidden`, which a command doesn't see.
pub fn hidden_note(hidden: &[String], output: &str) -> Option<String> {
    let name = hidden.iter().find(|name| names(output, name))?;
    Some(format!(
        "tiller hides {name} from commands: `tiller docs secrets`"
    ))
}

/// Returns `true` if `text` has the word `name`, except as the name of a redacted value.
fn names(text: &str, name: &str) -> bool {
    let continues = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(continues)
            && !after.starts_with(continues)
            && !before.ends_with("[redacted: ")
    })
}

/// The password in a URL (`postgres://user:PASSWORD@host/name`), if any.
pub fn password_in(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

/// Removes the password from a URL, except a proxy's, which commands need for the network.
fn without_password(name: &OsStr, value: OsString) -> OsString {
    let is_proxy = name
        .to_string_lossy()
        .to_ascii_lowercase()
        .ends_with("_proxy");
    let text = value.to_str().filter(|_| !is_proxy);
    match text.and_then(|text| Some((text, password_in(text)?))) {
        Some((text, password)) => text.replacen(&format!(":{password}@"), "@", 1).into(),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_variable_is_named_if_the_output_has_it_as_a_word() {
        let hidden = ["DB_PASSWORD".to_owned(), "TOKEN".to_owned()];
        for (output, expected) in [
            ("KeyError: 'DB_PASSWORD'", Some("DB_PASSWORD")),
            ("sh: TOKEN: unbound variable", Some("TOKEN")),
            ("MY_TOKEN TOKENS DB_PASSWORD_FILE", None),
            ("password=[redacted: DB_PASSWORD]", None),
            ("", None),
        ] {
            let note = hidden_note(&hidden, output);
            let expected = expected
                .map(|name| format!("tiller hides {name} from commands: `tiller docs secrets`"));
            assert_eq!(note, expected, "{output}");
        }
    }

    #[test]
    fn a_password_in_an_address_does_not_reach_commands() {
        for (name, value, expected) in [
            (
                "DATABASE_URL",
                "postgres://me:s3cret@db:5432/shop",
                "postgres://me@db:5432/shop",
            ),
            ("REDIS_URL", "redis://:s3cret@db", "redis://@db"),
            (
                "HOME_PAGE",
                "https://example.org/a:b@c",
                "https://example.org/a:b@c",
            ),
            (
                "https_proxy",
                "http://me:s3cret@proxy:80",
                "http://me:s3cret@proxy:80",
            ),
            ("TEXT", "a:b@c", "a:b@c"),
        ] {
            let shown = without_password(OsStr::new(name), value.into());
            assert_eq!(shown, expected, "{name}");
        }
        assert_eq!(password_in("redis://:s3cret@db"), Some("s3cret"));
    }
}
