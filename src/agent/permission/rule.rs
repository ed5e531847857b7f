//! A rule: what it holds of, and what it decides.

use std::fmt::{self, Write};
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The tools that write files: shapes of one, of which a model is offered some. A rule about one holds
/// of all.
const WRITING: [&str; 4] = ["write", "edit", "replace", "apply_patch"];

/// What a rule decides, from free to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It is done without a question.
    Allow,
    /// The user is asked.
    Ask,
    /// It is not done.
    Deny,
}

impl Action {
    /// The word for it in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Who made a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It came with the program: a default, which a more exact rule of the user replaces.
    BuiltIn,
    /// The user, where it stands (`config.toml:12`).
    User(String),
    /// A project, where it stands. It can only make things stricter.
    Project(String),
    /// An answer of this session.
    Session,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::User(place) => write!(f, "{place}"),
            Self::Project(place) => write!(f, "project: {place}"),
            Self::Session => f.write_str("this session"),
        }
    }
}

/// A rule, as `[[permission.rules]]` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool it holds of, by name; `*` stands for any text.
    pub tool: String,
    /// The words a simple command begins with; empty for a rule that is not about commands.
    pub prefix: Vec<String>,
    /// Whether the prefix is all of the command, word by word.
    pub exact: bool,
    /// Words of which one must follow the prefix: options, or paths with wildcards.
    pub with: Vec<String>,
    /// Words of which none may follow it.
    pub unless: Vec<String>,
    /// Of what lets git reach other machines: the names of the remotes; empty for any that the
    /// repository has.
    pub remotes: Vec<String>,
    /// What the settings of the repository were that says where its remotes are (see
    /// [`GitRemotes`](crate::agent::workspace::GitRemotes)); empty for any.
    pub fingerprint: String,
    /// The files it holds of, with wildcards.
    pub path: Option<String>,
    /// What it decides.
    pub action: Action,
    /// Whether what it allows, or what is allowed by an answer, stays in the sandbox.
    pub sandbox: bool,
    /// Whether it gets the network.
    pub network: bool,
    /// Why, for users; empty for the usual words.
    pub reason: String,
    /// Examples it must hold of.
    pub matches: Vec<String>,
    /// Examples it must not hold of.
    pub not_matches: Vec<String>,
    /// Who made it.
    pub origin: Origin,
}

impl Rule {
    /// A rule that says `action` of every call of `tool`.
    pub fn of_tool(tool: &str, action: Action, origin: Origin) -> Self {
        Self {
            tool: tool.to_owned(),
            prefix: Vec::new(),
            exact: false,
            with: Vec::new(),
            unless: Vec::new(),
            remotes: Vec::new(),
            fingerprint: String::new(),
            path: None,
            action,
            sandbox: true,
            network: false,
            reason: String::new(),
            matches: Vec::new(),
            not_matches: Vec::new(),
            origin,
        }
    }

    /// Whether it may hold of calls of this tool.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        let any = |names: &[&str]| names.iter().any(|name| like(name, &self.tool));
        like(tool, &self.tool) || WRITING.contains(&tool) && any(&WRITING)
    }

    /// Whether it is about one program and not about a tool as a whole.
    pub(super) fn is_about_commands(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// Whether it holds of the file `path`.
    pub(super) fn holds_of_path(&self, path: &Path, root: &Path, home: Option<&Path>) -> bool {
        let Some(pattern) = &self.path else {
            return true;
        };
        path_pattern(pattern, home).is_some_and(|(matcher, below)| {
            let whole = matcher.is_match(path);
            let inside = path
                .strip_prefix(root)
                .is_ok_and(|path| matcher.is_match(path));
            let name = below
                && path
                    .file_name()
                    .is_some_and(|name| matcher.is_match(Path::new(name)));
            whole || inside || name
        })
    }

    /// In a few words, for users, with where it comes from.
    pub fn summary(&self) -> String {
        format!("{} ({})", self.what(), self.origin)
    }

    /// In a few words, for users.
    pub fn what(&self) -> String {
        let mut text = format!("{} {}", self.action.name(), self.tool);
        if !self.prefix.is_empty() {
            let only = if self.exact { " only" } else { "" };
            let _ = write!(text, "{only} {:?}", self.prefix.join(" "));
        }
        if !self.with.is_empty() {
            let _ = write!(text, " with {}", self.with.join(" or "));
        }
        if !self.unless.is_empty() {
            let _ = write!(text, " unless {}", self.unless.join(" or "));
        }
        if !self.remotes.is_empty() {
            let _ = write!(text, " with the remote {}", self.remotes.join(" or "));
        }
        if let Some(path) = &self.path {
            let _ = write!(text, " {path}");
        }
        text
    }
}

/// Whether `text` is like `pattern`, whose `*` stands for any text.
pub(super) fn like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(first) else {
        return false;
    };
    let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.any(|at| like(&text[at..], rest))
}

/// The matcher of a path pattern, and whether it is a mere name, which holds of files of that name
/// anywhere.
pub(super) fn path_pattern(pattern: &str, home: Option<&Path>) -> Option<(GlobMatcher, bool)> {
    let mut text = pattern.to_owned();
    if let (Some(rest), Some(home)) = (pattern.strip_prefix("~/"), home) {
        text = format!("{}/{rest}", globset::escape(&home.to_string_lossy()));
    }
    if text.ends_with('/') {
        text.push_str("**");
    }
    let text = text.strip_prefix("./").unwrap_or(&text);
    let mut builder = GlobBuilder::new(text);
    let glob = builder.literal_separator(true).build().ok()?;
    Some((glob.compile_matcher(), !pattern.contains('/')))
}
