//! `tiller policy`: tests rules against their examples, and explains the decision on a command.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::policy_notes::notes;
use crate::agent::JudgedCommand;
use crate::agent::permission::{
    Action, Confinement, Judged, Origin, PermissionMode, Policy, Rule, Verdict, rules_to_toml,
};
use crate::app::one_liner::{by_hand, for_any_remote, one_liner};
use crate::app::out;
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

/// Explains the decision on `command`. `policy` has the rules that it comes from.
pub fn explain_command(
    command: &str,
    judged: &JudgedCommand,
    policy: &Policy,
    cwd: &Path,
    json: bool,
) -> Outcome {
    let rules: Vec<&Rule> = policy.rules().map(|rule| &**rule).collect();
    let mut notes = notes(&rules, command, judged);
    let is_explained = notes.iter().any(|note| note.starts_with("Your rule"));
    let how = judged.decision.by_hand(command).filter(|_| !is_explained);
    notes.extend(how.as_ref().and_then(by_hand));
    let text = if json {
        format!("{}\n", as_json(command, judged, &notes))
    } else {
        as_text(judged, &notes, cwd)
    };
    match (out::print(&text), judged.decision.verdict) {
        (Outcome::Done, Verdict::Allow(_)) if judged.hidden.is_empty() => Outcome::Done,
        (Outcome::Done, _) => Outcome::Failed,
        (outcome, _) => outcome,
    }
}

fn as_text(judged: &JudgedCommand, notes: &[String], cwd: &Path) -> String {
    let (mode, decision) = (judged.mode, &judged.decision);
    let mut text = String::new();
    for judged in &decision.commands {
        let rule = judged
            .rule
            .as_ref()
            .map(|rule| rule.summary())
            .filter(|rule| !judged.reason.contains(rule))
            .map(|rule| format!("  [{rule}]"));
        let _ = writeln!(
            text,
            "{:<6} {}\n       {}{}",
            alone(mode, judged, decision.verdict),
            judged.command,
            judged.reason,
            rule.unwrap_or_default()
        );
    }
    let (word, place) = words(decision.verdict);
    let place = place.map_or("", |place| of_place(mode, place));
    let shown = |path: &PathBuf| path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    let hidden: Vec<String> = judged.hidden.iter().map(shown).collect();
    let hidden = match hidden.as_slice() {
        [] => String::new(),
        [one] => format!(", but {one} is hidden from it (permission.protected)"),
        all => format!(
            ", but {} are hidden from it (permission.protected)",
            all.join(", ")
        ),
    };
    let _ = writeln!(text, "{mode} mode: {word}{place}{hidden}");
    let is_new = |reason: &str| decision.commands.iter().all(|it| it.reason != reason);
    if is_new(&decision.reason) {
        let _ = writeln!(text, "       {}", decision.reason);
    }
    for note in notes {
        let _ = writeln!(text, "       {note}");
    }
    if !decision.suggestions.is_empty() {
        let rules = rules_to_toml(&decision.suggestions);
        let _ = writeln!(
            text,
            "\nTo run it without asking, add to your config.toml:\n\n{}",
            rules.trim_end()
        );
        if let Some(line) = one_liner(&decision.suggestions) {
            let _ = writeln!(text, "\nThe same: {line}");
        }
        let commands = decision.commands.iter().map(|it| it.command.as_str());
        let commands: Vec<&str> = commands.collect();
        if let Some(line) = for_any_remote(&decision.suggestions, &commands.join(" ")) {
            let _ = writeln!(text, "\nShorter, for every remote: {line}");
        }
    }
    text
}

/// The word for one simple command: what its rule says, or else the mode.
fn alone(mode: PermissionMode, judged: &Judged, verdict: Verdict) -> &'static str {
    let is_by_mode = || judged.reason == format!("{mode} mode");
    match verdict {
        Verdict::Ask(_) if mode == PermissionMode::Ask && is_by_mode() => Action::Ask.name(),
        _ => judged.action.name(),
    }
}

fn words(verdict: Verdict) -> (&'static str, Option<Confinement>) {
    match verdict {
        Verdict::Allow(place) => ("allow", Some(place)),
        Verdict::Ask(place) => ("ask", Some(place)),
        Verdict::Deny => ("deny", None),
    }
}

fn of_place(mode: PermissionMode, place: Confinement) -> &'static str {
    match place {
        Confinement::Sandboxed { network: false } if mode == PermissionMode::Plan => {
            ", in the read-only sandbox, without network"
        }
        Confinement::Free => ", without a sandbox",
        Confinement::Sandboxed { network: true } => ", in the sandbox with network",
        Confinement::Sandboxed { network: false } => ", in the sandbox, without network",
    }
}

fn as_json(command: &str, judged: &JudgedCommand, notes: &[String]) -> Value {
    let (mode, decision) = (judged.mode, &judged.decision);
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
        "hidden": judged.hidden,
        "reason": decision.reason,
        "rule": decision.rule.as_deref().map(rule),
        "commands": commands.collect::<Vec<_>>(),
        "notes": notes,
        "suggestion": rules_to_toml(&decision.suggestions),
    })
}
