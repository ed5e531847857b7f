//! Questions that a run asks the user and waits for. The caller doesn't know where the user is: at
//! the screen, or using another program that answers through [`AgentHandle`](super::AgentHandle).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::details::Details;
use super::permission::{ByHand, Rule};

/// A question to the user. Its call waits for the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Increases with each question of this agent. An answer refers to it.
    pub id: u64,
    /// The call that waits.
    pub call_id: String,
    /// The call's tool.
    pub tool: String,
    /// The question's subject.
    pub subject: Subject,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// Whether the call may run.
    Permission(PermissionSubject),
    /// A question that only the user can answer.
    Choice(ChoiceSubject),
}

/// A call that runs only if the user allows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionSubject {
    /// The reason for asking, as a sentence without a period.
    pub reason: String,
    /// How a command that failed in the sandbox would rerun (`without the sandbox`, `with the
    /// network`), or `None` if the call hasn't run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What the call would do, as the screen shows it: the command or the diff.
    pub details: Arc<Details>,
    /// The rule that asks, as `tiller policy check` shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether the call would get the network.
    #[serde(skip)]
    pub network: bool,
    /// For a command line, the simple commands that require permission.
    #[serde(skip)]
    pub flagged: Vec<String>,
    /// The rules that would allow it next time. Empty if no general rule fits.
    #[serde(skip)]
    pub suggestions: Vec<Rule>,
    /// How users can allow it by hand, without a suggestion.
    #[serde(skip)]
    pub by_hand: Option<ByHand>,
}

/// A question from the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceSubject {
    /// The question.
    pub question: String,
    /// Up to four suggested answers. Any other text is also accepted.
    pub choices: Vec<String>,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The call may run. Calls that match these rules may run too, as long as the agent lives.
    Allow {
        /// Empty to allow only this call.
        rules: Vec<Rule>,
    },
    /// The call must not run.
    Refuse {
        /// The reason, or what to do instead.
        reason: Option<String>,
    },
    /// The answer to a [`ChoiceSubject`].
    Reply(String),
}

/// Sent from a call to the agent.
#[derive(Debug)]
pub(super) enum Asked {
    Put(Arc<Question>, oneshot::Sender<Answer>),
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

/// A call's position among parallel calls. It asks once all calls before it have asked or need
/// nothing from the user to start.
#[derive(Clone, Debug, Default)]
struct Place {
    before: Vec<CancellationToken>,
    own: CancellationToken,
}

impl Default for Asker {
    /// An asker whose questions no one receives.
    fn default() -> Self {
        Self::new().0
    }
}

impl Question {
    pub(super) fn has_run(&self) -> bool {
        matches!(&self.subject, Subject::Permission(subject) if subject.again.is_some())
    }

    /// Returns `true` if `rules` would have prevented the question.
    pub(super) fn is_answered_by(&self, rules: &[Rule]) -> bool {
        let Subject::Permission(subject) = &self.subject else {
            return false;
        };
        let suggestions = &subject.suggestions;
        !suggestions.is_empty() && suggestions.iter().all(|rule| rules.contains(rule))
    }
}

impl Answer {
    /// Allows this call only.
    pub fn once() -> Self {
        Self::Allow { rules: Vec::new() }
    }
}

impl Asker {
    /// Creates an asker and the receiver of its questions.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let asker = Self {
            sender,
            next: Arc::default(),
            place: Place::default(),
        };
        (asker, receiver)
    }

    /// Returns askers for this many calls, which ask in this order.
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

    /// Asks, and waits for the answer. Returns `None` if `cancel` fires first or there is no user.
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
        let sent = self.sender.send(Asked::Put(Arc::new(question), reply));
        self.let_others_ask();
        sent.ok()?;
        if let Some(answer) = cancel.run_until_cancelled(answer).await {
            return answer.ok();
        }
        let _ = self.sender.send(Asked::Withdrawn(id));
        None
    }
}
