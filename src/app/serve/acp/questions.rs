//! The agent's questions as permission requests, and their answers. In such a request a client can only choose
//! from a list. A question of the model is a form, if the client knows forms; otherwise it is a list too, and a
//! text is the next message.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::calls;
use super::client::Client;

use crate::agent::{AgentHandle, Answer, ChoiceSubject, PermissionSubject, Question, Subject};
use crate::app::host::Host;
use crate::app::rule_store::{RuleScope, offer};

const ONCE: &str = "once";
const ALWAYS: &str = "always";
const NO: &str = "no";
const LATER: &str = "later";
/// The fields of a form.
const CHOICE: &str = "choice";
const TEXT: &str = "text";
/// What the model reads if the user wants to answer in words.
const IN_WORDS: &str =
    "the user answers with the next message: end your turn now, with the question repeated";

/// The requests of open questions, by question.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    requests: HashMap<u64, u64>,
}

impl OpenQuestions {
    /// Asks what is new, and takes back what no longer waits.
    pub async fn update(
        &mut self,
        open: &[Arc<Question>],
        session: &str,
        host: &Host,
        client: &Client,
    ) {
        let is_open = |id: &u64| open.iter().any(|question| question.id == *id);
        let closed: Vec<u64> = self
            .requests
            .keys()
            .copied()
            .filter(|id| !is_open(id))
            .collect();
        for id in closed {
            if let Some(request) = self.requests.remove(&id) {
                client.take_back(request).await;
            }
        }
        for question in open {
            if self.requests.contains_key(&question.id) {
                continue;
            }
            let question = Arc::clone(question);
            if let Subject::Choice(subject) = &question.subject
                && client.knows_forms()
            {
                let form = form(session, &question.call_id, subject);
                let asking = client.ask("elicitation/create", form);
                let (request, answered) = asking.await;
                self.wait_for(&host.handle, question.id, request, answered, form_answer);
                continue;
            }
            let mut call = match &question.subject {
                Subject::Permission(subject) => {
                    let cwd = &host.cwd;
                    calls::fields(&question.call_id, &question.tool, &subject.details, cwd)
                }
                Subject::Choice(_) => json!({"toolCallId": question.call_id}),
            };
            call["status"] = json!("pending");
            let (title, reason) = (call["title"].as_str(), title(&question));
            call["title"] = json!(match title {
                Some(title) => format!("{title} ({reason})"),
                None => reason,
            });
            let params = json!({
                "sessionId": session,
                "toolCall": call,
                "options": options(&question),
            });
            let asking = client.ask("session/request_permission", params);
            let (request, answered) = asking.await;
            self.wait_for(
                &host.handle,
                question.id,
                request,
                answered,
                move |result| answer(&question, result),
            );
        }
    }

    /// Passes the answer to a request on to the agent.
    fn wait_for(
        &mut self,
        handle: &AgentHandle,
        question: u64,
        request: u64,
        answered: oneshot::Receiver<Option<Value>>,
        read: impl FnOnce(Option<&Value>) -> Answer + Send + 'static,
    ) {
        self.requests.insert(question, request);

        let handle = handle.clone();
        tokio::spawn(async move {
            // Without a sender it was taken back.
            if let Ok(result) = answered.await {
                handle.answer(question, read(result.as_ref()));
            }
        });
    }
}

/// The form of a question that the model asks: a choice, if there are some, and a text.
fn form(session: &str, call_id: &str, subject: &ChoiceSubject) -> Value {
    let mut fields = json!({});
    if !subject.choices.is_empty() {
        fields[CHOICE] = json!({"type": "string", "title": "Answer", "enum": subject.choices});
    }
    let title = if subject.choices.is_empty() {
        "Answer"
    } else {
        "Or in your words"
    };
    fields[TEXT] = json!({"type": "string", "title": title});
    json!({
        "sessionId": session,
        "toolCallId": call_id,
        "mode": "form",
        "message": subject.question,
        "requestedSchema": {"type": "object", "properties": fields},
    })
}

/// The answer in a completed form. A text takes precedence over a choice.
fn form_answer(result: Option<&Value>) -> Answer {
    let content = result.filter(|result| result["action"] == "accept");
    let content = content.map(|result| &result["content"]);
    let field = |name: &str| {
        let text = content?[name].as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let refused = Answer::Refuse { reason: None };
    field(TEXT)
        .or_else(|| field(CHOICE))
        .map_or(refused, Answer::Reply)
}

/// The choices of a permission request.
fn options(question: &Question) -> Value {
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
fn title(question: &Question) -> String {
    match &question.subject {
        Subject::Permission(PermissionSubject { reason, again, .. }) => match again {
            Some(how) => format!("Again {how}: {reason}"),
            None => reason.clone(),
        },
        Subject::Choice(subject) => subject.question.clone(),
    }
}

/// The answer in a response. Anything but a known choice refuses.
fn answer(question: &Question, result: Option<&Value>) -> Answer {
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
