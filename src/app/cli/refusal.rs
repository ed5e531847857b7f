//! One line for each call that a run without a user denied, with what would allow it next time.

use std::collections::HashSet;
use std::path::Path;

use toml::{Table, Value};

use crate::agent::Details;
use crate::agent::permission::{ByHand, Rule, rules_to_toml};
use crate::agent::question::{Question, Subject};
use crate::app::humanize::shell_word;
use crate::app::one_liner::{by_hand, for_any_remote, one_liner};

/// Most characters of a command to show.
const MOST: usize = 200;

/// The line for a question without a user to answer it, once for each call. `told` holds the calls, and
/// the reasons for which an earlier line already suggested what to do.
pub fn refusal(question: &Question, told: &mut HashSet<String>) -> Option<String> {
    let Subject::Permission(subject) = &question.subject else {
        return Some(format!("refused: {}", question.tool));
    };
    let what = call(&question.tool, &subject.details);
    let again = subject.again.as_ref();
    let refused = again.map_or_else(
        || format!("refused: {what}"),
        |with| format!("refused to rerun {with}: {what}"),
    );
    if !told.insert(refused.clone()) {
        return None;
    }
    let reason = &subject.reason;
    let is_rule = matches!(subject.by_hand, Some(ByHand::Rule(_)));
    let by_hand = subject.by_hand.as_ref().and_then(by_hand);
    let allow = match (&*subject.suggestions, by_hand) {
        ([], by_hand) if !told.insert(reason.clone()) => match by_hand.filter(|_| is_rule) {
            Some(how) => format!("{reason}. {how}"),
            None => reason.clone(),
        },
        ([], Some(how)) => format!("{reason}. {how}"),
        ([], None) if subject.network => {
            format!("{reason}; to allow it: tiller docs permissions#let-it-use-the-network")
        }
        ([], None) => format!(
            "{reason}; tiller has no rule to suggest: `tiller docs permissions#recipes` has some to copy"
        ),
        (rules, _) => {
            if let Some(line) = for_any_remote(rules, &what) {
                return Some(format!("{refused} ({reason}. To allow it: {line})"));
            }
            let always = one_liner(rules);
            let always = always.map_or_else(String::new, |line| format!("; for all runs: {line}"));
            format!("allow it with --config {}{always}", as_word(rules))
        }
    };
    Some(format!("{refused} ({allow})"))
}

/// The line for a call that a rule or the permission mode denies.
pub fn denial(
    tool: &str,
    details: &Details,
    why: &str,
    told: &mut HashSet<String>,
) -> Option<String> {
    let why = why.trim_end_matches('.');
    let line = format!("refused: {} ({why})", call(tool, details));
    told.insert(line.clone()).then_some(line)
}

fn call(tool: &str, details: &Details) -> String {
    one_line(&match details {
        Details::Command(command) => command.command.clone(),
        Details::Diff(diff) => format!("{tool} {}", diff.paths().join(", ")),
        _ => tool.to_owned(),
    })
}

/// The rules as the value of `--config`, to paste into a shell.
fn as_word(rules: &[Rule]) -> String {
    let table: Table = rules_to_toml(rules).parse().unwrap_or_default();
    let rules = table.get("permission").and_then(|it| it.get("rules"));
    let rules = rules.map(Value::to_string).unwrap_or_default();
    shell_word(Path::new(&format!("permission.rules={rules}")))
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
