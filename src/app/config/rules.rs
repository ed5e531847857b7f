//! The permission rules of all layers. Layers don't replace rules: each rule decides alone.

use super::check::RULES;
use super::layers::{Layer, Layers, Origin};
use crate::agent::ToolSettings;
use crate::agent::permission::{self, Rule, parse_rules, tightened};
use crate::agent::tools::builtin;

/// The rules in force, and in words the project's rules that aren't.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PermissionRules {
    pub rules: Vec<Rule>,
    /// A project's rules that would allow something.
    pub dropped: Vec<String>,
}

/// Parses and checks each rule.
pub(super) fn permission_rules(layers: &Layers) -> Result<PermissionRules, String> {
    let mut all = Vec::new();
    for layer in layers.with(RULES) {
        all.extend(rules_of(layer)?);
    }
    let (rules, dropped) = tightened(all);
    Ok(PermissionRules { rules, dropped })
}

fn rules_of(layer: &Layer) -> Result<Vec<Rule>, String> {
    let place = |line: usize| match &layer.origin {
        Origin::User(path) | Origin::Project(path) => format!("{}:{line}", path.display()),
        origin => origin.to_string(),
    };
    let origin = |line: usize| match &layer.origin {
        Origin::Project(_) => permission::Origin::Project(place(line)),
        _ => permission::Origin::User(place(line)),
    };
    let text = match layer.text.as_str() {
        "" => layer.table.to_string(),
        text => text.to_owned(),
    };
    parse_checked_rules(&text, origin)
        .map_err(|(origin, what)| format!("setting {RULES} ({origin}): {what}"))
}

/// Parses and checks rules; `origin` names the author of the rule on a line.
pub fn parse_checked_rules(
    text: &str,
    origin: impl Fn(usize) -> permission::Origin,
) -> Result<Vec<Rule>, (permission::Origin, String)> {
    let rules = parse_rules(text, &origin).map_err(|fault| (origin(fault.line), fault.what))?;
    if rules.is_empty() {
        return Ok(rules);
    }
    let tools = builtin(&ToolSettings::default());
    let tools: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    for rule in &rules {
        let checked = rule.check(&tools);
        checked.map_err(|what| (rule.origin.clone(), what))?;
    }
    Ok(rules)
}
