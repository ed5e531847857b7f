//! What a run asks the user, and waits for. Whoever asks is not told where the user is: at the
//! screen, or behind another program that answers through [`AgentHandle`](super::AgentHandle).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::details::Details;
use super::permission::Rule;

/// Something the user is asked. The call that asks stands still until there is an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Rises by one with each question of this agent; an answer names it.
    pub id: u64,
    /// The call that waits.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// What is asked.
    pub subject: Subject,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// Whether the call may run.
    Permission(PermissionSubject),
    /// Something only the user knows.
    Choice(ChoiceSubject),
}

/// A call that does not run unless the user allows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionSubject {
    /// Why it is asked, in a sentence without a full stop.
    pub reason: String,
    /// With what a command that failed in the sandbox would run again (`without the sandbox`, `with the
    /// network`); none where the call has not run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What would be done, as the screen shows it: the command, or the diff.
    pub details: Arc<Details>,
    /// The simple commands in it that made it ask, where it is a command line.
    #[serde(skip)]
    pub flagged: Vec<String>,
    /// The rules that would answer it the next time; none where nothing general can be said.
    #[serde(skip)]
    pub suggestions: Vec<Rule>,
}

/// A question of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceSubject {
    /// The question.
    pub question: String,
    /// The answers it offers, at most four; any other text is an answer too.
    pub choices: Vec<String>,
}

/// What the user said.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The call may run; and what these rules are about from now on, for as long as the agent
    /// lives.
    Allow {
        /// None: this once.
        rules: Vec<Rule>,
    },
    /// The call must not run.
    Refuse {
        /// Why, or what to do instead.
        reason: Option<String>,
    },
    /// The answer to a [`ChoiceSubject`].
    Reply(String),
}

/// From a call to the agent: a question, or that nobody waits for its answer any more.
#[derive(Debug)]
pub(super) enum Asked {
    Put(Question, oneshot::Sender<Answer>),
    /// The call was cut short.
    Withdrawn(u64),
}

/// Asks the user. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Asker {
    sender: mpsc::UnboundedSender<Asked>,
    next: Arc<AtomicU64>,
    place: Place,
}

/// The place of a call among those that run beside it: it asks when all before it have asked, or need
/// nothing of the user to start.
#[derive(Clone, Debug, Default)]
struct Place {
    before: Vec<CancellationToken>,
    own: CancellationToken,
}

impl Default for Asker {
    /// One that nobody listens to.
    fn default() -> Self {
        Self::new().0
    }
}

impl Question {
    pub(super) fn has_run(&self) -> bool {
        matches!(&self.subject, Subject::Permission(subject) if subject.again.is_some())
    }

    /// Whether it would not have been asked had `rules` held before.
    pub(super) fn is_answered_by(&self, rules: &[Rule]) -> bool {
        let Subject::Permission(subject) = &self.subject else {
            return false;
        };
        let suggestions = &subject.suggestions;
        !suggestions.is_empty() && suggestions.iter().all(|rule| rules.contains(rule))
    }
}

impl Answer {
    /// Yes, this once.
    pub fn once() -> Self {
        Self::Allow { rules: Vec::new() }
    }
}

impl Asker {
    /// An asker, and the end that its questions come out of.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let asker = Self {
            sender,
            next: Arc::default(),
            place: Place::default(),
        };
        (asker, receiver)
    }

    /// Askers for so many calls, which ask in this order.
    pub(super) fn in_order(&self, calls: usize) -> Vec<Self> {
        let tokens: Vec<_> = (0..calls).map(|_| CancellationToken::new()).collect();
        let asker = |at: usize| Self {
            place: Place {
                before: tokens[..at].to_vec(),
                own: tokens[at].clone(),
            },
            ..self.clone()
        };
        (0..calls).map(asker).collect()
    }

    pub(super) fn let_others_ask(&self) {
        self.place.own.cancel();
    }

    /// Asks, and waits for the answer. None when `cancel` fires first, or nobody can be asked.
    pub async fn ask(
        &self,
        call_id: &str,
        tool: &str,
        subject: Subject,
        cancel: &CancellationToken,
    ) -> Option<Answer> {
        for before in &self.place.before {
            cancel.run_until_cancelled(before.cancelled()).await?;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let question = Question {
            id,
            call_id: call_id.to_owned(),
            tool: tool.to_owned(),
            subject,
        };
        let (reply, answer) = oneshot::channel();
        let sent = self.sender.send(Asked::Put(question, reply));
        self.let_others_ask();
        sent.ok()?;
        if let Some(answer) = cancel.run_until_cancelled(answer).await {
            return answer.ok();
        }
        let _ = self.sender.send(Asked::Withdrawn(id));
        None
    }
}
