//! Reads and writes rules as text: `[[permission.rules]]` in a settings file. Errors name the line.

use serde::Deserialize;
use tiller_llm::toml_fault::reworded;
use toml::Spanned;

use super::rule::{Origin, Rule};

#[derive(Deserialize)]
struct File {
    permission: Option<Permission>,
}

#[derive(Deserialize)]
struct Permission {
    #[serde(default)]
    rules: Vec<Spanned<Rule>>,
}

/// A mistake in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// The line of the text that the rule begins on, from 1.
    pub line: usize,
    /// The mistake, and how to fix it.
    pub what: String,
}

/// Reads the rules of a settings file and ignores the rest. `origin` gives the origin of the rule that
/// begins on a line.
///
/// # Errors
/// The first rule that can't mean what its author wants.
pub fn parse_rules(text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Rule>, RuleFault> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let file: File = toml::from_str(text).map_err(|error| RuleFault {
        line: error.span().map_or(1, |span| line(span.start)),
        what: without_pattern(reworded(text, &error)),
    })?;
    let rules = file.permission.map(|permission| permission.rules);
    let rules = rules.into_iter().flatten().map(|rule| Rule {
        origin: origin(line(rule.span().start)),
        ..rule.into_inner()
    });
    Ok(rules.collect())
}

/// Names `prefix` in an error about a key that means it elsewhere.
fn without_pattern(what: String) -> String {
    let mut others = ["pattern", "command", "commands"].into_iter();
    match others.find(|word| what.starts_with(&format!("unknown key '{word}'"))) {
        Some(word) => format!("unknown key '{word}': write prefix = [\"npm\", \"test\"]"),
        None => what,
    }
}

/// The rules, written as in a settings file.
pub fn rules_to_toml(rules: &[Rule]) -> String {
    rules_to_toml_under("permission.rules", rules)
}

/// The rules as tables of the array `key`.
pub fn rules_to_toml_under(key: &str, rules: &[Rule]) -> String {
    // Serializing plain data can't fail.
    let table = |rule| format!("[[{key}]]\n{}", toml::to_string(rule).unwrap_or_default());
    rules.iter().map(table).collect::<Vec<_>>().join("\n")
}
