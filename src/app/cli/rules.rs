//! `tiller policy list`, `allow`, `ask`, `deny` and `remove`: the user's permission rules.

use std::path::Path;

use serde_json::{Value, json};

use crate::agent::permission::{Action, Origin, Rule, rules_to_toml};
use crate::app::args::PolicyAddArgs;
use crate::app::config::{append_rules, parse_checked_rules};
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::stored_rules::{StoredRules, listed, named};

/// Prints the rules in force.
pub fn list_rules(rules: &[Rule], json: bool) -> Outcome {
    if json {
        let rows = rules.iter().enumerate().map(|(at, rule)| row(at + 1, rule));
        let rows: Vec<Value> = rows.collect();
        return out::print(&format!("{:#}\n", Value::from(rows)));
    }
    out::print(&for_terminal(&listed(rules)))
}

/// Adds a rule about commands to the user's file.
pub fn add_rule(file: &Path, action: Action, what: &PolicyAddArgs) -> Result<Outcome, StartError> {
    let words = what.command.iter().flat_map(|word| word.split_whitespace());
    let rule = Rule {
        prefix: words.map(str::to_owned).collect(),
        network: what.network,
        sandbox: !what.no_sandbox,
        ..Rule::of_tool("bash", action, Origin::Session)
    };
    let rules = rules_to_toml(std::slice::from_ref(&rule));
    let checked = parse_checked_rules(&rules, |_| Origin::Session);
    checked.map_err(|(_, why)| StartError::usage(why))?;
    append_rules(file, std::slice::from_ref(&rule)).map_err(StartError::usage)?;
    let text = format!("Added to {}: {}\n", file.display(), rule.what());
    Ok(out::print(&for_terminal(&text)))
}

/// Removes one of `rules` from the user's files.
pub fn remove_stored_rule(
    stored: &StoredRules,
    rules: &[Rule],
    typed: &str,
    json: bool,
) -> Result<Outcome, StartError> {
    let rule = named(rules, typed).map_err(StartError::usage)?;
    let file = stored.remove(rule).map_err(StartError::usage)?;
    let text = if json {
        format!("{}\n", json!({"removed": rule.what(), "file": file}))
    } else {
        format!("Removed from {}: {}\n", file.display(), rule.what())
    };
    Ok(out::print(&for_terminal(&text)))
}

fn row(number: usize, rule: &Rule) -> Value {
    json!({
        "number": number,
        "rule": rule.what(),
        "origin": rule.origin.to_string(),
        "action": rule.action.name(),
        "tool": rule.tool,
        "prefix": rule.prefix,
        "path": rule.path,
        "sandbox": rule.sandbox,
        "network": rule.network,
    })
}
