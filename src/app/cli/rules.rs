//! `tiller policy list`, `allow`, `ask`, `deny` and `remove`: the user's permission rules.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::agent::permission::Rule;
use crate::agent::session::live_sessions;
use crate::app::args::PolicyCommand;
use crate::app::dirs::Dirs;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::stored_rules::{StoredRules, listed, named};
use crate::app::typed_rule::add_typed;

/// Prints the rules in force.
pub fn list_rules(rules: &[Rule], json: bool) -> Outcome {
    if json {
        let rows = rules.iter().enumerate().map(|(at, rule)| row(at + 1, rule));
        let rows: Vec<Value> = rows.collect();
        return out::print(&format!("{:#}\n", Value::from(rows)));
    }
    out::print(&for_terminal(&listed(rules)))
}

/// Adds a rule about commands to a file of the user.
pub fn add_rule(dirs: &Dirs, cwd: &Path, what: &PolicyCommand) -> Result<Outcome, StartError> {
    let mut text = add_typed(dirs, cwd, what)?;
    if let Some(note) = of_running_sessions(&dirs.sessions()) {
        let _ = writeln!(text, "{note}");
    }
    Ok(out::print(&for_terminal(&text)))
}

/// Removes one of `rules` from the user's files.
pub fn remove_stored_rule(
    stored: &StoredRules,
    sessions: &Path,
    rules: &[Rule],
    typed: &str,
    json: bool,
) -> Result<Outcome, StartError> {
    let rule = named(rules, typed).map_err(StartError::usage)?;
    let file = stored.remove(rule).map_err(StartError::usage)?;
    if json {
        let text = format!("{}\n", json!({"removed": rule.what(), "file": file}));
        return Ok(out::print(&for_terminal(&text)));
    }
    let mut text = format!("Removed from {}: {}\n", file.display(), rule.what());
    if let Some(note) = of_running_sessions(sessions) {
        let _ = writeln!(text, "{note}");
    }
    Ok(out::print(&for_terminal(&text)))
}

/// A sentence about the sessions that see the change.
fn of_running_sessions(root: &Path) -> Option<&'static str> {
    let is_running = !live_sessions(root).is_empty();
    is_running.then_some("Running sessions follow it from their next call on.")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::{Presence, PresenceRecord, SessionState};

    #[test]
    fn only_a_running_session_is_mentioned() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(of_running_sessions(root.path()), None);
        let record = PresenceRecord {
            id: "a".to_owned(),
            state: SessionState::Idle,
            since: 0,
            pid: std::process::id(),
            cwd: "/work".to_owned(),
            model: "p/m".to_owned(),
            path: root.path().join("a.jsonl"),
            socket: None,
        };
        let _open = Presence::open(root.path(), record).unwrap();
        let told = of_running_sessions(root.path()).unwrap();
        assert!(told.contains("from their next call on"), "{told}");
    }
}
