//! The environment of a command: quiet, and without secrets.
//!
//! Decides by name only. A secret under an innocent name gets through; that is why the patterns
//! are a setting.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Keeps programs from paging, asking and colouring.
const QUIET: [(&str, &str); 5] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// Says which variables are secret.
#[derive(Debug, Default)]
pub struct Secrets(GlobSet);

impl Secrets {
    /// Globs over names, in any case. One that is no glob is taken letter by letter: hiding too
    /// little because of a slip would be worse.
    pub fn new(patterns: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            // Lower case instead of the option for any case: that option makes each glob a
            // regular expression, and this is compiled at every start.
            let pattern = pattern.to_ascii_lowercase();
            if let Ok(glob) = Glob::new(&pattern).or_else(|_| Glob::new(&globset::escape(&pattern)))
            {
                set.add(glob);
            }
        }
        Self(set.build().unwrap_or_default())
    }

    /// Whether the variable `name` is one.
    pub fn hide(&self, name: &OsStr) -> bool {
        self.0.is_match(Path::new(&name.to_ascii_lowercase()))
    }
}

/// The variables of `from` that a command may see, and the ones that keep it quiet.
pub fn environment(
    from: impl IntoIterator<Item = (OsString, OsString)>,
    secrets: &Secrets,
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<_> = from
        .into_iter()
        .filter(|(name, _)| !secrets.hide(name) && !QUIET.iter().any(|(quiet, _)| name == *quiet))
        .collect();
    variables.extend(QUIET.map(|(name, value)| (name.into(), value.into())));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::ToolSettings;

    fn left(patterns: &[String], names: &[&str]) -> Vec<String> {
        let from = names.iter().map(|name| (name.into(), "x".into()));
        environment(from, &Secrets::new(patterns))
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .filter(|line| line.ends_with("=x"))
            .collect()
    }

    #[test]
    fn secrets_are_kept_from_commands() {
        let defaults = ToolSettings::default().bash_secret_env;
        let names = [
            "ANTHROPIC_API_KEY",
            "openai_api_key",
            "GITHUB_TOKEN",
            "MY_SECRET_THING",
            "PGPASSWORD",
            "AWS_CREDENTIALS_FILE",
            "AWS_SECRET_ACCESS_KEY",
            "Deploy_Private_Key",
            "HOME",
            "TOKENS",
            "KEYBOARD",
            "PATH",
        ];
        assert_eq!(
            left(&defaults, &names),
            ["HOME=x", "TOKENS=x", "KEYBOARD=x", "PATH=x"]
        );
    }

    #[test]
    fn patterns_are_a_setting() {
        let patterns = ["HOME".to_owned(), "[x".to_owned()];
        assert_eq!(left(&patterns, &["home", "[X", "A_TOKEN"]), ["A_TOKEN=x"]);
        assert_eq!(left(&[], &["A_TOKEN"]), ["A_TOKEN=x"]);
    }
}
