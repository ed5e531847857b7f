//! The agent's questions as dialogs of pi's protocol, and their answers.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::command::DialogResponse;
use crate::agent::tool::DiffDetails;
use crate::agent::{Answer, Details, PermissionSubject, Question, Subject};
use crate::app::humanize::plural;
use crate::app::rule_store::{RuleScope, offer};

/// Most lines of a file's diff in a question.
const DIFF_LINES: usize = 20;

const ONCE: &str = "Yes, once";
const NO: &str = "No";

/// The questions that wait for the client.
#[derive(Debug, Default)]
pub(super) struct Dialogs(HashMap<String, Arc<Question>>);

impl Dialogs {
    /// Takes the open questions; returns a request for each new one.
    pub fn update(&mut self, open: &[Arc<Question>]) -> Vec<Value> {
        self.0
            .retain(|_, known| open.iter().any(|it| it.id == known.id));
        let mut requests = Vec::new();
        for question in open {
            let id = format!("question-{}", question.id);
            if self.0.insert(id.clone(), Arc::clone(question)).is_none() {
                requests.push(request(&id, question));
            }
        }
        requests
    }

    /// The question with this number, if it still waits.
    pub fn has(&self, question: u64) -> bool {
        self.0.values().any(|it| it.id == question)
    }

    /// The answer in `response`, if its question still waits.
    pub fn answer(&mut self, response: &DialogResponse) -> Option<(u64, Answer)> {
        let question = self.0.remove(&response.id)?;
        let value = response.value.as_deref().filter(|_| !response.cancelled);
        let refused = || Answer::Refuse { reason: None };
        let answer = match &question.subject {
            Subject::Permission(subject) => match value {
                Some(ONCE) => Answer::once(),
                Some(value) if Some(value) == always(subject).as_deref() => Answer::Allow {
                    rules: subject.suggestions.clone(),
                },
                _ if response.confirmed == Some(true) && !response.cancelled => Answer::once(),
                // Any other text is a reason.
                Some(reason) if reason != NO && !reason.trim().is_empty() => Answer::Refuse {
                    reason: Some(reason.to_owned()),
                },
                _ => refused(),
            },
            Subject::Choice(_) => match value {
                Some(text) => Answer::Reply(text.to_owned()),
                None => refused(),
            },
        };
        Some((question.id, answer))
    }
}

fn request(id: &str, question: &Question) -> Value {
    let mut request = match &question.subject {
        Subject::Permission(subject) => {
            let again = match &subject.again {
                Some(how) => format!(" again {how}"),
                None => String::new(),
            };
            let title = format!(
                "Allow {}{again}? {}\n\n{}",
                question.tool,
                subject.reason,
                what(&subject.details)
            );
            let options: Vec<String> =
                [Some(ONCE.to_owned()), always(subject), Some(NO.to_owned())]
                    .into_iter()
                    .flatten()
                    .collect();
            json!({"method": "select", "title": title.trim_end(), "options": options})
        }
        Subject::Choice(subject) if subject.choices.is_empty() => {
            json!({"method": "input", "title": subject.question})
        }
        Subject::Choice(subject) => {
            json!({"method": "select", "title": subject.question, "options": subject.choices})
        }
    };
    request["type"] = json!("extension_ui_request");
    request["id"] = json!(id);
    request
}

/// The choice that keeps a rule, if there is a rule to keep.
fn always(subject: &PermissionSubject) -> Option<String> {
    let rules = &subject.suggestions;
    (!rules.is_empty()).then(|| offer(rules, RuleScope::Session))
}

fn what(details: &Details) -> String {
    match details {
        Details::Command(command) => command.command.clone(),
        Details::Diff(first) => {
            let files = std::iter::once(first).chain(&first.files);
            files.flat_map(file).collect::<Vec<_>>().join("\n")
        }
        Details::Other(other) => other.title.clone(),
        _ => String::new(),
    }
}

/// A file's path, and the beginning of its diff.
fn file(file: &DiffDetails) -> Vec<String> {
    let mut rows = vec![match &file.moved_from {
        Some(from) => format!("{from} → {}", file.path),
        None => file.path.clone(),
    }];
    rows.extend(file.diff.lines().take(DIFF_LINES).map(str::to_owned));
    let more = file.diff.lines().count().saturating_sub(DIFF_LINES);
    if more > 0 {
        rows.push(format!(
            "… {}",
            plural(more as u64, "more line", "more lines")
        ));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One yes lets the call change all of them.
    #[test]
    fn a_question_names_every_file() {
        let moved = DiffDetails {
            moved_from: Some("old.txt".to_owned()),
            ..DiffDetails::of("new.txt".to_owned())
        };
        let notes = DiffDetails {
            diff: format!("+1 hello{}", "\n+2 more".repeat(DIFF_LINES)),
            ..DiffDetails::of("notes.txt".to_owned())
        };
        let asked = what(&Details::Diff(DiffDetails::of_all([notes, moved])));
        assert!(
            asked.starts_with("notes.txt\n+1 hello\n+2 more\n"),
            "{asked}"
        );
        assert!(
            asked.ends_with("\n… 1 more line\nold.txt → new.txt"),
            "{asked}"
        );
    }
}
