//! What the run task sees of the actor: it reports what happens and asks what comes next. The run
//! owns no conversation, no queue and no session, so a run that dies takes nothing with it.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::agent::event::{AgentEvent, Phase, RunOutcome};
use crate::agent::memory::SessionPrompt;
use crate::agent::process::Processes;
use crate::agent::rules::LoopRules;
use crate::agent::toolbox::Toolbox;
use crate::llm::{Message, Model, ThinkingLevel};

/// Reports that may be under way from the run to the actor.
const REPORT_BUFFER: usize = 64;

/// The run's end of the line.
#[derive(Debug)]
pub(in crate::agent) struct Desk {
    reports: mpsc::Sender<Report>,
    cancel: CancellationToken,
    /// The scope of what its calls start.
    pub processes: Processes,
}

/// What the run says to the actor. The actor reads these in order, so an answer to a question
/// means that everything reported before it has been stored and handed out.
pub(in crate::agent) enum Report {
    /// Something happened. `MessageEnd` is stored before it is handed out.
    Event(AgentEvent),
    /// The run waits for something else now.
    Phase(Phase),
    /// May another turn begin? If so, the waiting steering messages join the conversation.
    OpenTurn(oneshot::Sender<Result<Turn, RunOutcome>>),
    /// May the turn be asked once more, with this change? If so, the waiting steering messages join
    /// the conversation.
    ReopenTurn(Change, oneshot::Sender<Result<Turn, RunOutcome>>),
    /// The model is to be told this with the next turn.
    Advise(String),
    /// Does a steering message wait?
    SteeringWaits(oneshot::Sender<bool>),
    /// The model is done: is a follow-up due for the next turn?
    ReleaseFollowUps(oneshot::Sender<Result<bool, RunOutcome>>),
}

/// How another attempt differs from the one before.
#[derive(Debug)]
pub(in crate::agent) enum Change {
    /// Not at all.
    None,
    /// This model is asked, for the rest of the run.
    Model(Arc<Model>),
    /// The thinking so far is not sent any more.
    NoThinking,
}

/// One turn as it was opened: what is chosen here holds until the next one opens.
#[derive(Clone)]
pub(in crate::agent) struct Turn {
    /// Cuts the turn's model call or tools short: the person steers now, or ends the run.
    pub interrupt: CancellationToken,
    /// The conversation.
    pub messages: Vec<Arc<Message>>,
    /// The model to ask.
    pub model: Arc<Model>,
    /// How hard it should think.
    pub thinking: ThinkingLevel,
    /// What the request begins with.
    pub prompt: Arc<SessionPrompt>,
    /// The tools it may call.
    pub toolbox: Arc<Toolbox>,
    /// The rules that hold for it.
    pub rules: Arc<LoopRules>,
}

impl Desk {
    /// A desk for a run that `cancel` ends, and the actor's end of the line.
    pub fn new(cancel: CancellationToken, processes: Processes) -> (Self, mpsc::Receiver<Report>) {
        let (reports, receiver) = mpsc::channel(REPORT_BUFFER);
        let desk = Self {
            reports,
            cancel,
            processes,
        };
        (desk, receiver)
    }

    /// Whether the person has ended the run.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reports an event. Waits while a subscriber is behind, but never once the turn was cut
    /// short: the actor then reads on whatever its subscribers do.
    pub async fn emit(&self, event: AgentEvent) {
        let _ = self.reports.send(Report::Event(event)).await;
    }

    /// Reports an event that may be lost when the line is full.
    pub fn emit_lossy(&self, event: AgentEvent) {
        let _ = self.reports.try_send(Report::Event(event));
    }

    /// Reports what the run waits for from now on.
    pub async fn phase(&self, phase: Phase) {
        let _ = self.reports.send(Report::Phase(phase)).await;
    }

    /// Reports a message that is whole already (a result): its start and its end.
    pub async fn emit_whole(&self, message: &Arc<Message>) {
        let message = || Arc::clone(message);
        self.emit(AgentEvent::MessageStart { message: message() })
            .await;
        self.emit(AgentEvent::MessageEnd { message: message() })
            .await;
    }

    /// Begins a turn: its waiting steering messages are in the conversation, and on disk. `Err`
    /// is how the run ends instead.
    pub async fn open_turn(&self) -> Result<Turn, RunOutcome> {
        self.ask(Report::OpenTurn)
            .await
            .unwrap_or(Err(RunOutcome::Aborted))
    }

    /// Begins the turn anew for another attempt: what the person said meanwhile is in the
    /// conversation. `Err` when the run is over.
    pub async fn reopen_turn(&self, change: Change) -> Result<Turn, RunOutcome> {
        self.ask(|reply| Report::ReopenTurn(change, reply))
            .await
            .unwrap_or(Err(RunOutcome::Aborted))
    }

    /// Has the model told something with the next turn.
    pub async fn advise(&self, text: String) {
        let _ = self.reports.send(Report::Advise(text)).await;
    }

    /// Whether a steering message waits.
    pub async fn steering_waits(&self) -> bool {
        self.ask(Report::SteeringWaits).await.unwrap_or(false)
    }

    /// Readies the follow-ups that are due for the next turn; false when none waits. `Err` when
    /// one waits but the iteration limit holds it back.
    pub async fn release_follow_ups(&self) -> Result<bool, RunOutcome> {
        self.ask(Report::ReleaseFollowUps)
            .await
            .unwrap_or(Ok(false))
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Report) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.reports.send(question(reply)).await.ok()?;
        answer.await.ok()
    }
}
