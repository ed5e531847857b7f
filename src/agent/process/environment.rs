//! The environment of a command: quiet, and without secrets.
//!
//! Decides by name only. A secret under an innocent name gets through; that is why the patterns
//! are a setting.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

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
pub struct Secrets {
    /// Patterns with `*` and `?` alone. They are matched here: the default ones are needed at every
    /// start, and compiling them to regular expressions costs more than the rest of it.
    simple: Vec<Vec<u8>>,
    others: GlobSet,
}

impl Secrets {
    /// Globs over names, in any case. One that is no glob is taken letter by letter: hiding too
    /// little because of a slip would be worse.
    pub fn new(patterns: &[String]) -> Self {
        let mut secrets = Self::default();
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            if !pattern.contains(['[', ']', '{', '}', '\\', '/']) {
                secrets.simple.push(pattern.to_ascii_lowercase().into());
                continue;
            }
            let build = |text: &str| GlobBuilder::new(text).case_insensitive(true).build();
            if let Ok(glob) = build(pattern).or_else(|_| build(&globset::escape(pattern))) {
                set.add(glob);
            }
        }
        if secrets.simple.len() < patterns.len() {
            secrets.others = set.build().unwrap_or_default();
        }
        secrets
    }

    /// Whether the variable `name` is one.
    pub fn hide(&self, name: &OsStr) -> bool {
        let lower = name.as_bytes().to_ascii_lowercase();
        self.simple.iter().any(|pattern| fits(pattern, &lower))
            || self.others.is_match(std::path::Path::new(name))
    }
}

/// Whether `name` fits `pattern`, in which `*` stands for any bytes and `?` for one, as in a glob.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where to go on when what follows the last star does not fit.
    let mut retry = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, seen));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                seen += 1;
            }
            Some(byte) if *byte == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((behind, from)) = retry else {
                    return false;
                };
                retry = Some((behind, from + 1));
                (at, seen) = (behind, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
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

    #[test]
    fn simple_patterns_mean_what_globs_mean() {
        let names = [
            "",
            "a",
            "A",
            "ab",
            "ba",
            "aba",
            "abab",
            "aab",
            "b",
            "größe",
            "x_API_KEY",
            "API_KEY_x",
        ];
        for pattern in [
            "*", "a", "a*", "*a", "*a*", "a*b", "*ab", "?", "??", "a?", "*?*", "gr??e", "gr????e",
            "*_API_*", "**", "", "*b?", "b*a*",
        ] {
            let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
            let glob = glob.unwrap().compile_matcher();
            let secrets = Secrets::new(&[pattern.to_owned()]);
            for name in names {
                assert_eq!(
                    secrets.hide(OsStr::new(name)),
                    glob.is_match(name),
                    "{pattern} {name}"
                );
            }
        }
    }

    #[test]
    fn programs_are_told_to_be_quiet() {
        let from = [
            ("TERM".into(), "xterm".into()),
            ("PAGER".into(), "less".into()),
        ];
        let mut got: Vec<String> = environment(from, &Secrets::new(&[]))
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        got.sort();
        assert_eq!(
            got,
            [
                "GIT_PAGER=cat",
                "GIT_TERMINAL_PROMPT=0",
                "NO_COLOR=1",
                "PAGER=cat",
                "TERM=dumb"
            ]
        );
    }
}
