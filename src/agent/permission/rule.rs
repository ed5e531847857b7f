//! A rule: what it matches, and what it decides.

use std::fmt::{self, Write};
use std::net::Ipv6Addr;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use reqwest::Url;
use serde::{Deserialize, Deserializer, Serialize};

use crate::tool::WebHost;
use crate::word_list::like;

/// Tools that write files: variants of one tool, of which a model gets some. A rule about one covers all.
const WRITING: [&str; 4] = ["write", "edit", "replace", "apply_patch"];

/// The decision of a rule, from free to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The call runs without a question.
    Allow,
    /// tiller asks the user.
    Ask,
    /// The call doesn't run.
    Deny,
}

impl Action {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Who made a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built in: a default, which a more specific rule of the user replaces.
    BuiltIn,
    /// The user, with the place (`config.toml:12`).
    User(String),
    /// A project, with the place. It can only make things stricter.
    Project(String),
    /// An answer in this session.
    #[default]
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

/// A rule, as in `[[permission.rules]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tool, by name; `*` matches any text.
    pub tool: String,
    /// The first words of a simple command; empty if the rule isn't about commands.
    #[serde(
        default,
        deserialize_with = "not_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub prefix: Vec<String>,
    /// One of these must come after the prefix: options, or paths with wildcards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// None of these can come after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unless: Vec<String>,
    /// If git can reach other machines: the names of the remotes; empty for all of the repository's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// Whether the prefix is the whole command, word for word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// The repository's settings about its remotes when the user made the rule (see
    /// [`GitRemotes`](crate::workspace::GitRemotes)); empty for any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// The files it matches, with wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its decision.
    pub action: Action,
    /// Whether the call stays in the sandbox when the rule, or an answer to it, allows it.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub sandbox: bool,
    /// Whether the call can use the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// The reason shown to users; empty for the default one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Examples it must match.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Examples it must not match.
    #[serde(default, rename = "not_match", skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
    /// Who made it.
    #[serde(skip)]
    pub origin: Origin,
}

fn yes() -> bool {
    true
}

fn not_empty<'de, D: Deserializer<'de>>(prefix: D) -> Result<Vec<String>, D::Error> {
    let prefix = Vec::deserialize(prefix)?;
    if prefix.is_empty() {
        let text = "`prefix` is empty and matches no command; remove it to match all";
        return Err(serde::de::Error::custom(text));
    }
    Ok(prefix)
}

impl Rule {
    /// Whether both say the same, wherever they come from.
    pub fn says_same(&self, other: &Self) -> bool {
        let origin = other.origin.clone();
        Self {
            origin,
            ..self.clone()
        } == *other
    }

    /// A rule with `action` for every call of `tool`.
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

    /// Whether it can match calls of this tool.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        let any = |names: &[&str]| names.iter().any(|name| like(name, &self.tool));
        like(tool, &self.tool) || WRITING.contains(&tool) && any(&WRITING)
    }

    /// Whether it is about commands, not about a whole tool.
    pub(super) fn is_about_commands(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// Whether it matches the file `path`.
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

    /// Whether it is about this host on the network, or about all.
    pub(super) fn holds_of_host(&self, host: &str) -> bool {
        let Some(path) = self.path.as_deref() else {
            return true;
        };
        let path = host_pattern(path).unwrap_or_else(|| path.to_owned());
        path_pattern(&path, None).is_some_and(|(it, _)| it.is_match(host))
    }

    /// Whether it lets a call reach a private address by this host. A name can lead anywhere, so for that the rule
    /// must say `network`.
    pub fn allows_private(&self, host: &WebHost) -> bool {
        let names = |path: &String| host_pattern(path).as_ref() == Some(&host.name);
        let is_named = self.path.as_ref().is_some_and(names);
        self.action == Action::Allow && is_named && (host.is_local || self.network)
    }

    /// A short description for users, with its origin.
    pub fn summary(&self) -> String {
        format!("{} ({})", self.what(), self.origin)
    }

    /// The reason for its decision, for users.
    pub(super) fn why(&self) -> String {
        match self.reason.as_str() {
            "" => format!("a rule applies: {}", self.summary()),
            reason => reason.to_owned(),
        }
    }

    /// A short description for users.
    pub fn what(&self) -> String {
        let mut text = format!("{} {}", self.action.name(), self.tool);
        if !self.prefix.is_empty() {
            let exactly = if self.exact { " exactly" } else { "" };
            let _ = write!(text, "{exactly} {:?}", self.prefix.join(" "));
        }
        if !self.with.is_empty() {
            let _ = write!(text, " with {}", few(&self.with));
        }
        if !self.unless.is_empty() {
            let _ = write!(text, " unless {}", few(&self.unless));
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

/// The first of these words, for a description.
fn few(words: &[String]) -> String {
    const MOST: usize = 3;
    match words.get(..MOST) {
        Some(first) if words.len() > MOST => format!("{} or …", first.join(" or ")),
        _ => words.join(" or "),
    }
}

/// A host, or a pattern of hosts, as URLs spell it. `None` if it is something else.
pub(super) fn host_pattern(text: &str) -> Option<String> {
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let spelled = |host: &str| {
        let url = Url::parse(&format!("http://{host}/")).ok()?;
        Some(url.host_str()?.trim_matches(['[', ']']).to_owned())
    };
    if let Ok(address) = bare.unwrap_or(text).parse::<Ipv6Addr>() {
        return spelled(&format!("[{address}]"));
    }
    let text = text.trim_end_matches('.');
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || "/:@#%\\".contains(c)) {
        return None;
    }
    if text.contains(['*', '?', '[', '{']) {
        return text.is_ascii().then(|| text.to_ascii_lowercase());
    }
    spelled(text)
}

/// The matcher of a path pattern, and whether it is a bare name, which matches anywhere.
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
