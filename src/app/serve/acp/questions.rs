//! The agent's questions as permission requests, and their answers. A client can only choose from a
//! list, so a question that needs a text is answered by the next message.

use serde_json::{Value, json};

use crate::agent::{Answer, PermissionSubject, Question, Subject};
use crate::app::rule_store::{RuleScope, offer};

const ONCE: &str = "once";
const ALWAYS: &str = "always";
const NO: &str = "no";
const LATER: &str = "later";
/// What the model reads if the user wants to answer in words.
const IN_WORDS: &str =
    "the user answers with the next message: end your turn now, with the question repeated";

/// The choices of a permission request.
pub(super) fn options(question: &Question) -> Value {
    let option =
        |id: &str, name: &str, kind: &str| json!({"optionId": id, "name": name, "kind": kind});
    let mut options = Vec::new();
    match &question.subject {
        Subject::Permission(subject) => {
            options.push(option(ONCE, "Yes, once", "allow_once"));
            if !subject.suggestions.is_empty() {
                let name = offer(&subject.suggestions, RuleScope::Session);
                options.push(option(ALWAYS, &name, "allow_always"));
            }
            options.push(option(NO, "No", "reject_once"));
        }
        Subject::Choice(subject) => {
            for (at, choice) in subject.choices.iter().enumerate() {
                options.push(option(&at.to_string(), choice, "allow_once"));
            }
            options.push(option(LATER, "Answer in words", "reject_once"));
        }
    }
    json!(options)
}

/// What the request asks, for the user.
pub(super) fn title(question: &Question) -> String {
    match &question.subject {
        Subject::Permission(PermissionSubject { reason, again, .. }) => match again {
            Some(how) => format!("Again {how}: {reason}"),
            None => reason.clone(),
        },
        Subject::Choice(subject) => subject.question.clone(),
    }
}

/// The answer in a response. Anything but a known choice refuses.
pub(super) fn answer(question: &Question, result: Option<&Value>) -> Answer {
    let outcome = result.map(|result| &result["outcome"]);
    let selected = outcome.and_then(|outcome| outcome["optionId"].as_str());
    let refused = Answer::Refuse { reason: None };
    match (&question.subject, selected) {
        (Subject::Permission(_), Some(ONCE)) => Answer::once(),
        (Subject::Permission(subject), Some(ALWAYS)) => Answer::Allow {
            rules: subject.suggestions.clone(),
        },
        (Subject::Choice(_), Some(LATER)) => Answer::Refuse {
            reason: Some(IN_WORDS.to_owned()),
        },
        (Subject::Choice(subject), Some(chosen)) => {
            let at = chosen.parse().ok();
            let choice = at.and_then(|at: usize| subject.choices.get(at));
            choice.map_or(refused, |choice| Answer::Reply(choice.clone()))
        }
        _ => refused,
    }
}
