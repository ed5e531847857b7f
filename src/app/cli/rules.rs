//! `tiller policy list`, `allow`, `ask`, `deny` and `remove`: the user's permission rules.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::typed_rule::{cannot_work, check_words, warning};
use crate::agent::git::project_root;
use crate::agent::permission::{Action, Origin, Rule, rules_to_toml};
use crate::agent::session::live_sessions;
use crate::app::args::PolicyCommand;
use crate::app::config::{append_rules, parse_checked_rules, remove_older};
use crate::app::dirs::Dirs;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::stored_rules::{StoredRules, listed, named, place_of};
use crate::app::trust::Trust;

/// Prints the rules in force.
pub fn list_rules(rules: &[Rule], json: bool) -> Outcome {
    if json {
        let rows = rules.iter().enumerate().map(|(at, rule)| row(at + 1, rule));
        let rows: Vec<Value> = rows.collect();
        return out::print(&format!("{:#}\n", Value::from(rows)));
    }
    out::print(&for_terminal(&listed(rules)))
}

/// Adds a rule about commands to a file of the user, for every project or for the one around `cwd`.
pub fn add_rule(dirs: &Dirs, cwd: &Path, what: &PolicyCommand) -> Result<Outcome, StartError> {
    let (action, words, free, exact) = match what {
        PolicyCommand::Allow(what) => (
            Action::Allow,
            &what.rule.words,
            Some(&what.rule),
            what.exact,
        ),
        PolicyCommand::Ask(what) => (Action::Ask, &what.words, Some(what), false),
        PolicyCommand::Deny(words) => (Action::Deny, words, None, false),
        _ => return Ok(Outcome::Done),
    };
    let typed = &words.command;
    check_words(action, typed).map_err(StartError::usage)?;
    let prefix: Vec<String> = if exact && typed.len() > 1 {
        typed.clone()
    } else {
        let words = typed.iter().flat_map(|word| word.split_whitespace());
        words.map(str::to_owned).collect()
    };
    let rule = Rule {
        prefix,
        exact,
        network: free.is_some_and(|it| it.network),
        sandbox: !free.is_some_and(|it| it.no_sandbox),
        ..Rule::of_tool("bash", action, Origin::Session)
    };
    let rules = rules_to_toml(std::slice::from_ref(&rule));
    let checked = parse_checked_rules(&rules, |_| Origin::Session);
    checked.map_err(|(_, why)| StartError::usage(why))?;
    if let Some(why) = cannot_work(&rule) {
        return Err(StartError::usage(format!("not added: {why}")));
    }
    let added = std::slice::from_ref(&rule);
    let (file, place) = if words.project {
        let trust = Trust::load(&dirs.projects_file(), cwd)?;
        let file = trust
            .keep_rules(added)
            .map_err(StartError::usage)?
            .to_owned();
        (file, format!(", only in {}", project_root(cwd).display()))
    } else {
        let file = dirs.config_file();
        append_rules(&file, added).map_err(StartError::usage)?;
        remove_older(&file, &rule).map_err(StartError::usage)?;
        (file, String::new())
    };
    let mut text = format!(
        "Added to {}: {}{}{place}\n",
        file.display(),
        rule.what(),
        place_of(&rule)
    );
    let running = of_running_sessions(&dirs.sessions()).map(str::to_owned);
    let is_bundle = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let spelled = (rule.action != Action::Allow && rule.prefix.iter().any(is_bundle)).then(|| {
        "The same options in another order or one by one still pass. Name one of them with all its \
         spellings, as in: tiller policy deny rm '-r|-R|--recursive'"
            .to_owned()
    });
    let notes = [warning(&rule), spelled, running];
    for note in notes.into_iter().flatten() {
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
