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
    /// The variables of tiller that a command may see, and the ones that keep it quiet.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let is_quiet = |name: &OsStr| QUIET.iter().any(|(quiet, _)| name == *quiet);
        std::env::vars_os()
            .filter(|(name, _)| !self.hide(name) && !is_quiet(name))
            .chain(QUIET.map(|(name, value)| (name.into(), value.into())))
            .collect()
    }
}
