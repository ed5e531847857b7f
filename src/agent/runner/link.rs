//! The link between the two halves of the loop: the run reports what happens and asks what comes
//! next, the actor answers. The run owns no conversation, no queue and no session, so a run that
//! panics loses none of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::allowed::Refusal;
use super::env::RunEnv;
use super::lookout::Folders;
use crate::agent::event::{AgentEvent, CompactionReason, NoticeLevel, Phase, RunOutcome};
use crate::agent::memory::compaction::{Carried, Pruned};
use crate::agent::memory::{InstructionSources, PlaceLook, SessionPrompt, Surroundings};
use crate::agent::process::Processes;
use crate::agent::question::Asker;
use crate::agent::rules::LoopRules;
use crate::agent::session::NodeId;
use crate::agent::session_work::ChangedFile;
use crate::agent::toolbox::Toolbox;
use crate::agent::trial::{Kept, Started};
use crate::agent::undo::Direction;
use crate::llm::{Content, Message, Model, ThinkingLevel, ToolResultMessage, Usage};

/// Messages that may wait between run and actor.
const MESSAGE_BUFFER: usize = 64;

#[derive(Clone)]
pub(in crate::agent) struct RunLink {
    messages: mpsc::Sender<RunMessage>,
    cancel: CancellationToken,
    pub env: Arc<RunEnv>,
    /// The scope of what its calls start.
    pub processes: Processes,
    pub asker: Asker,
}

/// Says notices while the run goes on, without keeping it from ending.
pub(in crate::agent) struct LateNotices(mpsc::WeakSender<RunMessage>);

impl LateNotices {
    /// Says a warning; gives the text back if the run has ended.
    pub async fn warn(&self, text: String) -> Result<(), String> {
        let Some(messages) = self.0.upgrade() else {
            return Err(text);
        };
        let level = NoticeLevel::Warning;
        let event = AgentEvent::Notice {
            level,
            text: text.clone(),
        };
        let sent = messages.send(RunMessage::Event(event)).await;
        sent.map_err(|_| text)
    }
}

/// What the run says to the actor. The actor reads these in order, so an answer to a question
/// means that everything reported before it has been stored and handed out.
pub(in crate::agent) enum RunMessage {
    /// Something happened. `MessageEnd` is stored before it is handed out.
    Event(AgentEvent),
    Begun(AgentEvent, oneshot::Sender<Option<String>>),
    /// A call has ended: its `ToolEnd`, and its result, which is stored before either is handed out.
    Ended(AgentEvent, Arc<Message>),
    /// The user is about to be asked whether a call runs again: this came of it.
    RanOnce(Box<ToolResultMessage>),
    Phase(Phase),
    Surroundings(Surroundings),
    NextTurn(Step, oneshot::Sender<Result<Turn, RunOutcome>>),
    /// The conversation goes on from elsewhere, with a summary of the branch it leaves.
    Leave(Leave, BranchText, oneshot::Sender<()>),
    Trial(TrialReport),
    /// This turn begins to change files.
    BeginUndo(String, oneshot::Sender<()>),
    Undone(Undone),
    /// This model takes the place of the same one with an estimated window.
    CorrectWindow(Arc<Model>),
    /// The model that answered in place of another is the session's from here on.
    KeepFallback,
    SteeringWaits(oneshot::Sender<bool>),
    ReleaseFollowUps(oneshot::Sender<Result<bool, RunOutcome>>),
}

pub(in crate::agent) enum TrialReport {
    Begun(Box<Started>, oneshot::Sender<(Arc<RunEnv>, Opening)>),
    Ended(Option<Kept>, oneshot::Sender<()>),
}

/// What follows when changes of files were undone or redone.
pub(in crate::agent) struct Undone {
    /// What the model is told, if its conversation stays.
    pub told: Option<String>,
    /// The prompt before which the conversation goes on, if it goes back too.
    pub to: Option<String>,
    pub direction: Direction,
    pub files: Vec<ChangedFile>,
}

pub(in crate::agent) struct Opening {
    pub waits_for_git: bool,
    pub look: PlaceLook,
    /// The messages whose calls no run has looked at.
    pub messages: Vec<Arc<Message>>,
    /// The folders that the calls before them looked into.
    pub folders: Folders,
    /// The instruction files that the model knows.
    pub known: BTreeSet<String>,
    /// Where instruction files may come from.
    pub instructions: InstructionSources,
    /// The tools that the calls of the conversation were for.
    pub toolbox: Arc<Toolbox>,
}

/// How a run comes to its next turn. What that stores is on disk when the turn is there.
pub(in crate::agent) enum Step {
    /// Another one begins: this advice and the waiting steering messages join the conversation, and
    /// before them what the program tells the model.
    Open(Option<String>),
    /// It is asked once more, with this change. The waiting steering messages join the conversation.
    Reopen(Change),
    /// Without anything new in it.
    Same,
    /// The summary takes the place of what stands before its kept messages.
    Compact(Summary),
    /// These results are left out of this request and all to come.
    Prune(Vec<Pruned>),
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

/// The user wants the conversation compacted.
#[derive(Clone, Debug)]
pub(in crate::agent) struct CompactRequest {
    /// What the summary should pay attention to.
    pub focus: Option<String>,
}

#[derive(Debug)]
pub(in crate::agent) struct Summary {
    pub reason: CompactionReason,
    pub text: String,
    /// The first of the turn's messages that stays.
    pub kept_from: usize,
    /// The files that commands have changed.
    pub changed: Vec<String>,
    pub tokens_before: u64,
    pub usage: Usage,
}

/// Where the conversation goes on, and what is left.
#[derive(Debug)]
pub(in crate::agent) struct Leave {
    /// The entry it goes on from.
    pub target: Option<NodeId>,
    /// The id of the entry that the branch ends with.
    pub from: String,
    pub begins: String,
    /// The first of the messages that a model reads which belongs to it.
    pub first: usize,
    /// The files that were read and modified there.
    pub files: Carried,
    /// The prompt that was chosen to be said again.
    pub prompt: Option<Vec<Content>>,
}

/// What the model wrote of a branch, and the tokens it took.
pub(in crate::agent) type BranchText = (String, Usage);

/// One turn as it was opened: what is chosen here holds until the next one opens.
#[derive(Clone)]
pub(in crate::agent) struct Turn {
    /// Cuts the turn's model call or tools short: the user steers now, or ends the run.
    pub interrupt: CancellationToken,
    pub messages: Vec<Arc<Message>>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    /// What the request begins with.
    pub prompt: Arc<SessionPrompt>,
    pub toolbox: Arc<Toolbox>,
    pub rules: Arc<LoopRules>,
    /// Whether a conversation that fills the window is compacted by itself.
    pub compacts: bool,
    /// The user wants the conversation compacted first.
    pub compact: Option<CompactRequest>,
}

impl Turn {
    /// The result of `work`, unless the turn is cut short first. What `work` does on other threads may
    /// continue; its result is dropped.
    pub(super) async fn unless_cut_short<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        let done = self.interrupt.run_until_cancelled(work).await;
        done.ok_or(Refusal::CutShort)
    }
}

impl RunLink {
    /// A link for a run that `cancel` ends, and the actor's side.
    pub fn new(
        cancel: CancellationToken,
        env: Arc<RunEnv>,
        processes: Processes,
        asker: Asker,
    ) -> (Self, mpsc::Receiver<RunMessage>) {
        let (messages, receiver) = mpsc::channel(MESSAGE_BUFFER);
        let link = Self {
            messages,
            cancel,
            env,
            processes,
            asker,
        };
        (link, receiver)
    }

    /// The link of one call, which asks through `asker`.
    pub fn asking_through(&self, asker: Asker) -> Self {
        Self {
            asker,
            ..self.clone()
        }
    }

    /// The link of a run that works with `env` from here on.
    pub fn working_with(&self, env: Arc<RunEnv>) -> Self {
        Self {
            env,
            ..self.clone()
        }
    }

    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reports an event. Waits while a subscriber is behind, but never once the turn was cut
    /// short: the actor then reads on whatever its subscribers do.
    pub async fn emit(&self, event: AgentEvent) {
        self.report(RunMessage::Event(event)).await;
    }

    /// Reports that a call begins: where that cannot be stored, a session that is opened again would say
    /// that the call never ran.
    ///
    /// # Errors
    /// Why it could not be stored.
    pub async fn begin_call(&self, event: AgentEvent) -> Result<(), String> {
        let failed = self.ask(|reply| RunMessage::Begun(event, reply)).await;
        failed.flatten().map_or(Ok(()), Err)
    }

    /// Reports an event that may be lost when the line is full.
    pub fn emit_lossy(&self, event: AgentEvent) {
        let _ = self.messages.try_send(RunMessage::Event(event));
    }

    pub async fn phase(&self, phase: Phase) {
        self.report(RunMessage::Phase(phase)).await;
    }

    /// Reports something that is no event.
    pub(super) async fn report(&self, message: RunMessage) {
        let _ = self.messages.send(message).await;
    }

    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancel.run_until_cancelled(work).await
    }

    /// The run's next turn. `Err` is how the run ends instead.
    pub async fn next_turn(&self, step: Step) -> Result<Turn, RunOutcome> {
        self.ask(|reply| RunMessage::NextTurn(step, reply))
            .await
            .unwrap_or(Err(RunOutcome::Aborted))
    }

    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Reports that a trial has begun, and returns what a run in it works with. None when the run
    /// is over.
    pub async fn begin_trial(&self, started: Started) -> Option<(Arc<RunEnv>, Opening)> {
        self.ask(|reply| RunMessage::Trial(TrialReport::Begun(Box::new(started), reply)))
            .await
    }

    /// Reports that the open trial has ended: kept so, or discarded. When this returns, that is
    /// stored.
    pub async fn end_trial(&self, kept: Option<Kept>) -> Option<()> {
        self.ask(|reply| RunMessage::Trial(TrialReport::Ended(kept, reply)))
            .await
    }

    pub async fn notice(&self, level: NoticeLevel, text: impl Into<String>) {
        let text = text.into();
        self.emit(AgentEvent::Notice { level, text }).await;
    }

    /// For notices of what goes on beside the run.
    pub fn late_notices(&self) -> LateNotices {
        LateNotices(self.messages.downgrade())
    }

    pub async fn steering_waits(&self) -> bool {
        self.ask(RunMessage::SteeringWaits).await.unwrap_or(false)
    }

    /// Readies the follow-ups that are due for the next turn; false when none waits. `Err` when
    /// one waits but the iteration limit or the budget holds it back.
    pub async fn release_follow_ups(&self) -> Result<bool, RunOutcome> {
        self.ask(RunMessage::ReleaseFollowUps)
            .await
            .unwrap_or(Ok(false))
    }

    /// Asks the actor; when this returns, everything reported before is stored.
    pub(super) async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> RunMessage,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.messages.send(question(reply)).await.ok()?;
        answer.await.ok()
    }
}
