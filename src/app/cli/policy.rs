//! `tiller policy`: tests rules against their examples, and explains the decision on a command.

use std::fmt::Write;

use serde_json::{Value, json};

use super::out;
use crate::agent::permission::{
    Action, Confinement, Decision, Origin, PermissionMode, Policy, Rule, Verdict, rules_to_toml,
};
use crate::app::outcome::Outcome;

/// Tests all rules against their examples.
pub fn check_rules(policy: &Policy, json: bool) -> Outcome {
    let rules: Vec<_> = policy.rules().collect();
    let faults = rules.iter().filter_map(|rule| {
        let fault = rule.check_examples().err()?;
        Some((rule, fault))
    });
    let faults: Vec<(_, String)> = faults.collect();
    let examples = rules
        .iter()
        .map(|rule| rule.matches.len() + rule.not_matches.len());
    let examples: usize = examples.sum();
    let mut text = String::new();
    if json {
        let faults = faults
            .iter()
            .map(|(rule, fault)| json!({"rule": rule.summary(), "fault": fault}));
        let faults: Vec<Value> = faults.collect();
        let value = json!({"rules": rules.len(), "examples": examples, "faults": faults});
        let _ = writeln!(text, "{value}");
    } else {
        for rule in rules.iter().filter(|rule| rule.origin != Origin::BuiltIn) {
            let _ = writeln!(text, "{}", rule.summary());
        }
        for (rule, fault) in &faults {
            let _ = writeln!(text, "{}: {fault}", rule.summary());
        }
        let verdict = if faults.is_empty() {
            "all pass"
        } else {
            "some fail"
        };
        let _ = writeln!(
            text,
            "{} rules, {examples} examples: {verdict}",
            rules.len()
        );
    }
    match (out::print(&text), faults.is_empty()) {
        (Outcome::Done, false) => Outcome::Failed,
        (outcome, _) => outcome,
    }
}

pub fn explain_command(
    mode: PermissionMode,
    command: &str,
    decision: &Decision,
    json: bool,
) -> Outcome {
    let text = if json {
        format!("{}\n", as_json(mode, command, decision))
    } else {
        as_text(mode, decision)
    };
    match (out::print(&text), decision.verdict) {
        (Outcome::Done, Verdict::Allow(_)) => Outcome::Done,
        (Outcome::Done, _) => Outcome::Failed,
        (outcome, _) => outcome,
    }
}

fn as_text(mode: PermissionMode, decision: &Decision) -> String {
    let mut text = String::new();
    for judged in &decision.commands {
        let rule = judged
            .rule
            .as_ref()
            .map(|rule| format!("  [{}]", rule.summary()));
        let _ = writeln!(
            text,
            "{:<6} {}\n       {}{}",
            alone(mode, judged.action, decision.verdict),
            judged.command,
            judged.reason,
            rule.unwrap_or_default()
        );
    }
    let (word, place) = words(decision.verdict);
    let place = place.map_or("", of_place);
    let _ = writeln!(text, "{mode} mode: {word}{place}");
    let is_new = |reason: &str| decision.commands.iter().all(|it| it.reason != reason);
    if is_new(&decision.reason) {
        let _ = writeln!(text, "       {}", decision.reason);
    }
    if !decision.suggestions.is_empty() {
        let rules = rules_to_toml(&decision.suggestions);
        let _ = writeln!(
            text,
            "\nTo run it without asking, add to your config.toml:\n\n{}",
            rules.trim_end()
        );
    }
    text
}

/// The word for one simple command; empty where no rule matches and the mode decides.
fn alone(mode: PermissionMode, action: Action, verdict: Verdict) -> &'static str {
    match (action, mode, verdict) {
        (Action::Allow, PermissionMode::Ask, Verdict::Ask(_)) => "",
        (action, ..) => action.name(),
    }
}

fn words(verdict: Verdict) -> (&'static str, Option<Confinement>) {
    match verdict {
        Verdict::Allow(place) => ("allow", Some(place)),
        Verdict::Ask(place) => ("ask", Some(place)),
        Verdict::Deny => ("deny", None),
    }
}

fn of_place(place: Confinement) -> &'static str {
    match place {
        Confinement::Free => ", without a sandbox",
        Confinement::Sandboxed { network: true } => ", in the sandbox with network",
        Confinement::Sandboxed { network: false } => ", in the sandbox",
    }
}

fn as_json(mode: PermissionMode, command: &str, decision: &Decision) -> Value {
    let rule = |rule: &Rule| json!({"rule": rule.summary(), "origin": rule.origin.to_string()});
    let commands = decision.commands.iter().map(|judged| {
        json!({
            "command": judged.command,
            "action": judged.action.name(),
            "reason": judged.reason,
            "rule": judged.rule.as_deref().map(rule),
        })
    });
    let (verdict, place) = words(decision.verdict);
    let sandbox = place.map(|place| place != Confinement::Free);
    let network = place.map(|place| place != Confinement::Sandboxed { network: false });
    json!({
        "command": command,
        "mode": mode.name(),
        "verdict": verdict,
        "sandbox": sandbox,
        "network": network,
        "reason": decision.reason,
        "rule": decision.rule.as_deref().map(rule),
        "commands": commands.collect::<Vec<_>>(),
        "suggestion": rules_to_toml(&decision.suggestions),
    })
}
