//! Rules that answered a question and count longer than tiller runs: those of a project in
//! `projects.toml`, never in its repository, those that count everywhere in the settings.

use std::path::Path;

use toml::{Table, Value};

use super::config::{append_to_file, parse_checked_rules};
use crate::agent::permission::{Origin, Rule, rules_to_toml_under};

/// The table of `projects.toml`: the root of a project, and its rules.
const TABLE: &str = "rules";

/// Where and for how long a rule counts that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// Until tiller ends.
    Session,
    /// In this project.
    Project,
    /// Everywhere.
    Always,
}

/// The rules of the project in `root`, in the text of `projects.toml`.
///
/// # Errors
/// What is wrong with them.
pub(super) fn project_rules(text: &str, root: &Path) -> Result<Vec<Rule>, String> {
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| format!("it is not valid TOML:\n{error}"))?;
    let Some(projects) = table.get(TABLE) else {
        return Ok(Vec::new());
    };
    let projects = projects.as_table();
    let projects = projects.ok_or_else(|| format!("[{TABLE}] is not a table"))?;
    let Some(rules) = root.to_str().and_then(|root| projects.get(root)) else {
        return Ok(Vec::new());
    };
    let key = key(root);
    let tables = rules.as_array();
    let tables = tables.ok_or_else(|| format!("[{key}]: write its rules as [[{key}]]"))?;
    let mut rules = Vec::new();
    for (at, rule) in tables.iter().enumerate() {
        // In the form of the settings, where each may stand alone.
        let permission =
            Table::from_iter([(String::from("rules"), Value::from(vec![rule.clone()]))]);
        let alone = Table::from_iter([(String::from("permission"), Value::from(permission))]);
        let place = format!("projects.toml, rule {} of {}", at + 1, root.display());
        let origin = |_| Origin::User(place.clone());
        let read = parse_checked_rules(&alone.to_string(), origin);
        rules.extend(read.map_err(|(_, what)| format!("rule {} of [[{key}]]: {what}", at + 1))?);
    }
    Ok(rules)
}

/// Appends rules of the project in `root` to `file`.
///
/// # Errors
/// The file cannot be changed, or would be faulty; it is as it was.
pub(super) fn append_project_rules(file: &Path, root: &Path, rules: &[Rule]) -> Result<(), String> {
    let named = |what: String| format!("{}: {what}", file.display());
    append_to_file(
        file,
        &rules_to_toml_under(&key(root), rules),
        |before, new| {
            let before = project_rules(before, root).map_err(named)?;
            match project_rules(&new, root) {
                Ok(after) if after.len() == before.len() + rules.len() => Ok(()),
                _ => Err(named(format!(
                    "no rule can be appended as [[{}]]",
                    key(root)
                ))),
            }
        },
    )
}

/// The array of a project's rules, as its header has it.
fn key(root: &Path) -> String {
    format!("{TABLE}.{}", Value::from(&*root.to_string_lossy()))
}
