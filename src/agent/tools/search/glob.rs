//! A glob for the search tools. Without `/` it matches names at any depth, with `/` paths relative to the
//! searched folder. `*` and `?` never match a `/`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::tool::ToolError;
use crate::tools::call;

pub struct Glob {
    matcher: GlobMatcher,
    /// Matches names, not paths.
    names: bool,
    /// Began with `!`: leaves out what matches.
    negated: bool,
    /// Ended in `/`: matches only folders.
    pub folders: bool,
}

impl Glob {
    pub fn new(pattern: &str) -> Result<Self, ToolError> {
        let (negated, rest) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let folders = rest.len() > 1 && rest.ends_with('/');
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let names = !rest.contains('/');
        let rest = rest.trim_start_matches("./").trim_start_matches('/');
        let fault = |error: globset::Error| {
            call::invalid(&format!("{pattern:?} isn't a valid glob: {}", error.kind()))
        };
        let glob = GlobBuilder::new(rest)
            .literal_separator(true)
            .empty_alternates(true)
            .build()
            .map_err(fault)?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            names,
            negated,
            folders,
        })
    }

    /// Whether `path`, relative to the searched folder, matches.
    pub fn is_match(&self, path: &Path) -> bool {
        let subject = if self.names {
            path.file_name().map(Path::new)
        } else {
            Some(path)
        };
        subject.is_some_and(|subject| self.matcher.is_match(subject)) != self.negated
    }
}
