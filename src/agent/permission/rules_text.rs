//! Rules as text: `[[permission.rules]]` of a settings file, read and written. What is wrong with one is
//! said with its line.

use std::fmt::Write;

use serde::Deserialize;
use toml::Spanned;

use super::rule::{Action, Origin, Rule};

#[derive(Deserialize)]
struct File {
    permission: Option<Permission>,
}

#[derive(Deserialize)]
struct Permission {
    #[serde(default)]
    rules: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    tool: String,
    action: RawAction,
    prefix: Option<Vec<String>>,
    #[serde(default)]
    exact: bool,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    remotes: Vec<String>,
    #[serde(default)]
    fingerprint: String,
    path: Option<String>,
    #[serde(default = "yes")]
    sandbox: bool,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    reason: String,
    #[serde(default, rename = "match")]
    matches: Vec<String>,
    #[serde(default, rename = "not_match")]
    not_matches: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawAction {
    Allow,
    Ask,
    Deny,
}

fn yes() -> bool {
    true
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// The line of the text that the rule begins on, from 1.
    pub line: usize,
    /// What it is, and the way out.
    pub what: String,
}

/// The rules of a settings file; what else stands in it is left alone. `origin` says who made the rule
/// that begins on a line.
///
/// # Errors
/// The first rule that cannot be what its author wants.
pub fn parse_rules(text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Rule>, RuleFault> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let file: File = toml::from_str(text).map_err(|error| RuleFault {
        line: error.span().map_or(1, |span| line(span.start)),
        what: error.message().to_owned(),
    })?;
    let rules = file.permission.map(|permission| permission.rules);
    let rules = rules.into_iter().flatten().map(|raw| {
        let line = line(raw.span().start);
        rule(raw.into_inner(), origin(line)).map_err(|what| RuleFault { line, what })
    });
    rules.collect()
}

fn rule(raw: RawRule, origin: Origin) -> Result<Rule, String> {
    if raw.prefix.as_ref().is_some_and(Vec::is_empty) {
        return Err(String::from(
            "prefix is empty: it holds of no command; leave it out for all",
        ));
    }
    Ok(Rule {
        tool: raw.tool,
        prefix: raw.prefix.unwrap_or_default(),
        exact: raw.exact,
        with: raw.with,
        unless: raw.unless,
        remotes: raw.remotes,
        fingerprint: raw.fingerprint,
        path: raw.path,
        action: match raw.action {
            RawAction::Allow => Action::Allow,
            RawAction::Ask => Action::Ask,
            RawAction::Deny => Action::Deny,
        },
        sandbox: raw.sandbox,
        network: raw.network,
        reason: raw.reason,
        matches: raw.matches,
        not_matches: raw.not_matches,
        origin,
    })
}

/// The rules as they stand in a settings file.
pub fn rules_to_toml(rules: &[Rule]) -> String {
    rules_to_toml_under("permission.rules", rules)
}

/// The rules as tables of the array `key`.
pub fn rules_to_toml_under(key: &str, rules: &[Rule]) -> String {
    let mut text = String::new();
    for rule in rules {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "[[{key}]]");
        let mut line = |key: &str, value: toml::Value| {
            let _ = writeln!(text, "{key} = {value}");
        };
        let list = |items: &[String]| items.iter().cloned().map(toml::Value::String).collect();
        line("tool", rule.tool.clone().into());
        for (key, items) in [
            ("prefix", &rule.prefix),
            ("with", &rule.with),
            ("unless", &rule.unless),
            ("remotes", &rule.remotes),
        ] {
            if !items.is_empty() {
                line(key, toml::Value::Array(list(items)));
            }
        }
        if rule.exact {
            line("exact", true.into());
        }
        if !rule.fingerprint.is_empty() {
            line("fingerprint", rule.fingerprint.clone().into());
        }
        if let Some(path) = &rule.path {
            line("path", path.clone().into());
        }
        line("action", rule.action.name().into());
        if !rule.sandbox {
            line("sandbox", false.into());
        }
        if rule.network {
            line("network", true.into());
        }
        if !rule.reason.is_empty() {
            line("reason", rule.reason.clone().into());
        }
        for (key, items) in [("match", &rule.matches), ("not_match", &rule.not_matches)] {
            if !items.is_empty() {
                line(key, toml::Value::Array(list(items)));
            }
        }
    }
    text
}
