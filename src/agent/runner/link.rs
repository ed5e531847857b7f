//! The link between the two halves of the loop: the run reports events and requests the next step,
//! the actor answers. The run owns no conversation, queue or session, so a run that panics loses
//! none of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::allowed::Refusal;
use super::env::RunEnv;
use super::hooks::PromptVerdict;
use super::lookout::Folders;
use crate::event::{AgentEvent, CompactionReason, NoticeLevel, Phase, RunOutcome};
use crate::memory::compaction::{Carried, Pruned};
use crate::memory::{InstructionSources, PlaceLook, SessionPrompt, Surroundings};
use crate::process::Processes;
use crate::question::Asker;
use crate::rules::LoopRules;
use crate::session::NodeId;
use crate::session_work::ChangedFile;
use crate::tool::Tool;
use crate::toolbox::Toolbox;
use crate::trial::{Kept, Started};
use crate::undo::Direction;
use tiller_llm::{Content, Message, Model, ThinkingLevel, ToolResultMessage, Usage};

/// Capacity of the channel from the run to the actor, in messages.
const MESSAGE_BUFFER: usize = 64;

#[derive(Clone)]
pub(crate) struct RunLink {
    messages: mpsc::Sender<RunMessage>,
    cancel: CancellationToken,
    pub env: Arc<RunEnv>,
    /// The scope of the processes that its calls start.
    pub processes: Processes,
    pub asker: Asker,
}

/// Sends notices while the run lasts, without keeping the run alive.
pub(crate) struct LateNotices(mpsc::WeakSender<RunMessage>);

impl LateNotices {
    /// Sends a warning. Returns the text if the run has ended.
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

/// A message from the run to the actor. The actor handles these in order, so its answer means that
/// everything reported before has been stored and delivered.
pub(crate) enum RunMessage {
    /// An event. `MessageEnd` is stored before delivery.
    Event(AgentEvent),
    Begun(AgentEvent, oneshot::Sender<Option<String>>),
    /// A call has ended: its `ToolEnd` and its result, which is stored before either is delivered.
    Ended(AgentEvent, Arc<Message>),
    /// The result so far, sent before tiller asks the user whether to rerun the call.
    RanOnce(Box<ToolResultMessage>),
    Phase(Phase),
    Surroundings(Surroundings),
    NextTurn(Step, oneshot::Sender<Result<Turn, RunOutcome>>),
    /// The conversation continues elsewhere, with a summary of the branch it leaves.
    Leave(Leave, BranchText, oneshot::Sender<()>),
    Trial(TrialReport),
    /// This turn starts to change files.
    BeginUndo(String, oneshot::Sender<()>),
    Undone(Undone),
    /// A turn of this run has changed so many files.
    ChangedFiles(u64),
    /// Replaces the same model with an estimated window.
    CorrectWindow(Arc<Model>),
    /// The session keeps the fallback model that answered.
    KeepFallback,
    SteeringWaits(oneshot::Sender<bool>),
    /// The prompts that the next turn would send and no hook has seen, by number.
    Prompts(oneshot::Sender<Vec<(u64, String)>>),
    /// How many prompts the next turn would send.
    PromptsLeft(oneshot::Sender<usize>),
    PromptChecked(u64, PromptVerdict),
    /// Hooks no longer look at prompts.
    ForgetChecks,
    /// A message of hooks to the model.
    FromHooks(String),
    /// The tools of the user, for the turns of this run.
    OwnTools(Vec<Arc<dyn Tool>>),
    /// The tools of MCP servers, for the turns of this run.
    McpTools(Vec<Arc<dyn Tool>>),
    ReleaseFollowUps(oneshot::Sender<Result<bool, RunOutcome>>),
}

pub(crate) enum TrialReport {
    Begun(Box<Started>, oneshot::Sender<(Arc<RunEnv>, Opening)>),
    Ended(Option<Kept>, oneshot::Sender<()>),
}

/// The effects of undoing or redoing file changes.
pub(crate) struct Undone {
    /// What to tell the model, if the conversation stays.
    pub told: Option<String>,
    /// The prompt that the conversation goes back to before, if it goes back too.
    pub to: Option<String>,
    pub direction: Direction,
    pub files: Vec<ChangedFile>,
}

pub(crate) struct Opening {
    /// The model that the run starts with.
    pub model: Arc<Model>,
    pub waits_for_git: bool,
    pub look: PlaceLook,
    /// Messages whose calls no run has examined yet.
    pub messages: Vec<Arc<Message>>,
    /// Folders that the calls before those messages looked into.
    pub folders: Folders,
    /// The instruction files that the model knows.
    pub known: BTreeSet<String>,
    /// Where instruction files may come from.
    pub instructions: InstructionSources,
    /// The tools that the conversation's calls refer to.
    pub toolbox: Arc<Toolbox>,
}

/// How a run gets its next turn. Everything the step stores is on disk before the turn is returned.
pub(crate) enum Step {
    /// Starts another turn: tiller's own messages to the model, this advice and the waiting
    /// steering messages join the conversation.
    Open(Option<String>),
    /// Repeats the request with this change. The waiting steering messages join the conversation.
    Reopen(Change),
    /// Continues with nothing new in the conversation.
    Same,
    /// Replaces everything before the kept messages with the summary.
    Compact(Summary),
    /// Leaves out these results from this request and all later ones.
    Prune(Vec<Pruned>),
}

/// How an attempt differs from the previous one.
#[derive(Debug)]
pub(crate) enum Change {
    None,
    /// Use this model for the rest of the run.
    Model(Arc<Model>),
    /// Stop sending the earlier thinking.
    NoThinking,
}

/// The user's request to compact the conversation.
#[derive(Clone, Debug)]
pub(crate) struct CompactRequest {
    /// What the summary should focus on.
    pub focus: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Summary {
    pub reason: CompactionReason,
    pub text: String,
    /// Index of the first message of the turn that is kept.
    pub kept_from: usize,
    /// The files changed by commands.
    pub changed: Vec<String>,
    pub tokens_before: u64,
    pub usage: Usage,
}

/// Where the conversation continues, and the branch it leaves.
#[derive(Debug)]
pub(crate) struct Leave {
    /// The entry to continue from.
    pub target: Option<NodeId>,
    /// The id of the branch's last entry.
    pub from: String,
    pub begins: String,
    /// Index of the branch's first message among those sent to the model.
    pub first: usize,
    /// The files read and modified on the branch.
    pub files: Carried,
    /// The prompt that the user chose to edit and send again.
    pub prompt: Option<Vec<Content>>,
}

/// The model's summary of a branch, and the tokens it used.
pub(crate) type BranchText = (String, Usage);

/// One turn as it was opened: these choices hold until the next turn opens.
#[derive(Clone)]
pub(crate) struct Turn {
    /// Cuts the turn's model call or tools short: the user steers now, or stops the run.
    pub interrupt: CancellationToken,
    pub messages: Vec<Arc<Message>>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    /// The beginning of the request.
    pub prompt: Arc<SessionPrompt>,
    pub toolbox: Arc<Toolbox>,
    pub rules: Arc<LoopRules>,
    /// `true` if a conversation that fills the window is compacted automatically.
    pub compacts: bool,
    /// Set if the user requested a compaction first.
    pub compact: Option<CompactRequest>,
}

impl Turn {
    /// Returns the result of `work` unless the turn is cut short first. Work on other threads may
    /// continue then, but its result is dropped.
    pub(super) async fn unless_cut_short<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        let done = self.interrupt.run_until_cancelled(work).await;
        done.ok_or(Refusal::CutShort)
    }
}

impl RunLink {
    /// Returns a link for a run that `cancel` ends, and the actor's end of the channel.
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

    /// Returns a link for one call, which asks through `asker`.
    pub fn asking_through(&self, asker: Asker) -> Self {
        Self {
            asker,
            ..self.clone()
        }
    }

    /// Returns a link for the rest of a run, which works with `env`.
    pub fn working_with(&self, env: Arc<RunEnv>) -> Self {
        Self {
            env,
            ..self.clone()
        }
    }

    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Reports an event. Waits while a subscriber is behind, but not once the turn is cut short:
    /// the actor then reads on regardless of its subscribers.
    pub async fn emit(&self, event: AgentEvent) {
        self.report(RunMessage::Event(event)).await;
    }

    /// Reports the start of a call. If that couldn't be stored, a reopened session would claim that the
    /// call never ran.
    ///
    /// # Errors
    /// Returns why it couldn't be stored.
    pub async fn begin_call(&self, event: AgentEvent) -> Result<(), String> {
        let failed = self.ask(|reply| RunMessage::Begun(event, reply)).await;
        failed.flatten().map_or(Ok(()), Err)
    }

    /// Reports an event that may be dropped if the channel is full.
    pub fn emit_lossy(&self, event: AgentEvent) {
        let _ = self.messages.try_send(RunMessage::Event(event));
    }

    pub async fn phase(&self, phase: Phase) {
        self.report(RunMessage::Phase(phase)).await;
    }

    /// Reports something other than an event.
    pub(super) async fn report(&self, message: RunMessage) {
        let _ = self.messages.send(message).await;
    }

    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancel.run_until_cancelled(work).await
    }

    /// Returns the run's next turn. `Err` is how the run ends instead.
    pub async fn next_turn(&self, step: Step) -> Result<Turn, RunOutcome> {
        self.ask(|reply| RunMessage::NextTurn(step, reply))
            .await
            .unwrap_or(Err(RunOutcome::Aborted))
    }

    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Reports the start of a trial, and returns what a run in it works with, if not over.
    pub async fn begin_trial(&self, started: Started) -> Option<(Arc<RunEnv>, Opening)> {
        self.ask(|reply| RunMessage::Trial(TrialReport::Begun(Box::new(started), reply)))
            .await
    }

    /// Reports that the open trial has ended, kept or discarded. That is stored when this returns.
    pub async fn end_trial(&self, kept: Option<Kept>) -> Option<()> {
        self.ask(|reply| RunMessage::Trial(TrialReport::Ended(kept, reply)))
            .await
    }

    pub async fn notice(&self, level: NoticeLevel, text: impl Into<String>) {
        let text = text.into();
        self.emit(AgentEvent::Notice { level, text }).await;
    }

    /// Returns a sender for notices of background work.
    pub fn late_notices(&self) -> LateNotices {
        LateNotices(self.messages.downgrade())
    }

    pub async fn steering_waits(&self) -> bool {
        self.ask(RunMessage::SteeringWaits).await.unwrap_or(false)
    }

    /// Moves the follow-ups that are due into the next turn. Returns `false` if there are none, and
    /// `Err` if the iteration limit or the budget holds one back.
    pub async fn release_follow_ups(&self) -> Result<bool, RunOutcome> {
        self.ask(RunMessage::ReleaseFollowUps)
            .await
            .unwrap_or(Ok(false))
    }

    /// Asks the actor. When this returns, everything reported before is stored.
    pub(super) async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> RunMessage,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.messages.send(question(reply)).await.ok()?;
        answer.await.ok()
    }
}
