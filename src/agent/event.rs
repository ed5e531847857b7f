//! The agent's output: one stream of events, the same for every front end.
//!
//! Events nest like brackets: agent, turn, message, tool call. An `*End` event contains the
//! complete state, so a front end that missed updates recovers at the next end. `AgentEnd` also
//! ends everything left open by a run that crashed. Front ends build pi's record shapes (`--mode
//! json`, RPC) from these events.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::budget::{Budget, BudgetReached};
use super::permission::PermissionMode;
use super::question::Question;
use super::run_totals::RunTotals;
use super::session::{HistoryFacts, RunMessages, SessionBranch};
use super::session_work::ChangedFile;
use super::tool::Details;
pub use super::tool_status::{CANCELLED, NOT_PERMITTED, NOT_STARTED, ToolStatus, UNANSWERED};
use super::trial::{Kept, Trial};
use super::undo::Direction;
use tiller_llm::{Content, Message, Model, StopReason, StreamEvent, ThinkingLevel, Usage};

/// One event with its number and time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Increases by one with every event of this agent, starting at 1. A new subscriber gets the beginning of an
    /// unfinished answer with the number of the last event.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub time: i64,
    /// The run that it belongs to, if any.
    pub run: Option<RunId>,
    /// The event itself.
    pub kind: AgentEvent,
}

/// Identifies a run of one agent. Later runs have higher numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RunId(pub(super) u64);

/// Returns the current Unix time in milliseconds.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// What happened.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// A run started.
    AgentStart,
    /// A run ended. Nothing of it is in progress anymore.
    AgentEnd {
        /// The messages added by this run, in order.
        messages: RunMessages,
        /// How it ended.
        outcome: RunOutcome,
        /// Its totals.
        totals: RunTotals,
    },
    /// The agent is idle: no queued message, retry or compaction will start anything.
    AgentSettled {
        /// `true` if the user stopped it.
        aborted: bool,
    },
    /// A model call and its tools start.
    TurnStart {
        /// Number of the iteration on its path in the session, 1-based.
        iteration: usize,
    },
    /// A model call and its tools ended.
    TurnEnd {
        /// The assistant message.
        message: Arc<Message>,
        /// The results of its tools, in call order.
        tool_results: Vec<Arc<Message>>,
    },
    /// A request is sent to a model. In sessions only, because pi has no such record.
    ApiCallStart {
        /// The model as `provider/id`.
        model: String,
    },
    /// The answer is complete, cut short, or failed.
    ApiCallEnd {
        /// Why it ended.
        stop_reason: StopReason,
        /// Milliseconds until its first content, if any.
        first_token_ms: Option<u64>,
        /// Milliseconds until it ended.
        duration_ms: u64,
    },
    /// A message started. User messages and tool results are already complete.
    MessageStart {
        /// The message. An assistant message is pending and empty.
        message: Arc<Message>,
    },
    /// The assistant message grew. Apply it with `AssistantMessage::apply`.
    MessageUpdate {
        /// The change.
        event: StreamEvent,
    },
    /// A message is complete, and on disk if there is a session.
    MessageEnd {
        /// The message as stored.
        message: Arc<Message>,
    },
    /// A tool call starts. Sent even if it will be skipped or refused, so that starts and ends pair.
    ToolStart {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The arguments, for records. The screen uses `details`.
        args: Arc<Value>,
        /// The details until the tool reports some.
        details: Arc<Details>,
    },
    /// A tool reports progress, replacing earlier reports. Lossy.
    ToolUpdate {
        /// The call's id.
        call_id: String,
        /// The current details.
        details: Arc<Details>,
    },
    /// A tool call ended.
    ToolEnd {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// How it ended.
        status: ToolStatus,
        /// The result for the model.
        content: Vec<Content>,
        /// The final details.
        details: Arc<Details>,
        /// Monotonic duration in milliseconds; absent if it didn't run.
        duration_ms: Option<u64>,
        /// The permission rule that refused it.
        rule: Option<String>,
    },
    /// The queued messages changed. Contains both queues completely.
    QueueUpdate {
        /// Delivered between tool calls.
        steering: Vec<Queued>,
        /// Delivered when the agent would stop, then the prompts of trials that didn't begin.
        follow_up: Vec<Queued>,
    },
    /// The permission mode changed.
    PermissionMode(PermissionMode),
    /// The session's budget changed.
    Budget(Budget),
    /// The session has another name, or none anymore.
    SessionNamed(Option<String>),
    /// The open questions changed. Contains all of them, in the order they were asked.
    Questions {
        /// The questions without an answer.
        open: Vec<Arc<Question>>,
    },
    /// A call needed permission but there was no user to ask, so it was refused.
    Refused(Arc<Question>),
    /// Queued messages go back to the user, to be placed before the draft: after an abort (steering
    /// first), or because the user requested it.
    QueueReturned {
        /// In the order to insert them in the editor.
        messages: Vec<Queued>,
        /// The front end that gets them, as in [`AgentHandle::for_client`](super::AgentHandle::for_client).
        to: u64,
    },
    /// The agent's activity changed.
    State(RunState),
    /// Another session replaced the previous one.
    SessionOpened {
        /// Facts about its conversation so far, as a model reads it.
        facts: Arc<HistoryFacts>,
        /// The same conversation as the user reads it.
        branch: Arc<SessionBranch>,
        /// Its file, or `None` if it isn't stored.
        path: Option<PathBuf>,
        /// The name that the user gave it.
        name: Option<String>,
        /// The user's first prompt in it.
        first_prompt: Option<String>,
        /// `true` if it is read-only: nothing is sent or stored.
        read_only: bool,
    },
    /// File changes were undone or redone.
    FilesUndone {
        /// Undo or redo.
        direction: Direction,
        /// The files, with the lines added and removed.
        files: Vec<ChangedFile>,
    },
    /// The conversation continues from another entry of its session.
    Moved {
        /// Facts about the conversation up to there, as a model reads it.
        facts: Arc<HistoryFacts>,
        /// The same conversation as the user reads it.
        branch: Arc<SessionBranch>,
        /// The selected prompt, which the user can edit and send again from there.
        prompt: Option<Vec<Content>>,
        /// The front end whose user chose it, as in [`AgentHandle::for_client`](super::AgentHandle::for_client).
        to: u64,
    },
    /// The model or thinking level for the next call changed.
    ModelChanged {
        /// The model.
        model: Arc<Model>,
        /// The level.
        thinking: ThinkingLevel,
    },
    /// A model call failed and will be retried.
    RetryStart {
        /// Number of the retry, 1-based.
        attempt: u32,
        /// The maximum number of retries.
        max_attempts: u32,
        /// The delay before it, in milliseconds.
        delay_ms: u64,
        /// Why the call failed.
        error: String,
    },
    /// The retries of a model call are over.
    RetryEnd {
        /// Number of the last retry.
        attempt: u32,
        /// Why there is no answer, or `None` if there is one.
        final_error: Option<String>,
    },
    /// A summary of the conversation is being created.
    CompactionStart {
        /// The reason.
        reason: CompactionReason,
        /// Approximate number of tokens in the conversation.
        tokens_before: u64,
    },
    /// The compaction ended, with or without a summary.
    CompactionEnd {
        /// Why it started.
        reason: CompactionReason,
        /// Its outcome.
        outcome: CompactionOutcome,
    },
    /// Tokens were spent outside the conversation and no other event reports them: on a failed
    /// summary, or on the summary of a branch.
    Spent {
        /// Their purpose, as named in the session.
        kind: &'static str,
        /// The model that was called.
        model: Arc<Model>,
        /// Tokens and cost.
        usage: Usage,
    },
    /// A trial began, is still open, or ended.
    Trial(TrialEvent),
    /// A text for the user. Doesn't change what the run does.
    Notice {
        /// Its severity.
        level: NoticeLevel,
        /// What happened, and what the user can do.
        text: String,
    },
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionReason {
    /// The user requested it.
    Manual,
    /// The conversation fills too much of the window.
    Threshold,
    /// The provider rejected the conversation as too long.
    Overflow,
}

/// The outcome of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionOutcome {
    /// The summary and the latest messages now form the conversation.
    Done {
        /// The summary.
        summary: String,
        /// The session entry of the first message that is kept.
        first_kept_entry_id: String,
        /// Approximate number of tokens in the conversation before.
        tokens_before: u64,
        /// Approximate number of tokens in the conversation after.
        tokens_after: u64,
        /// Tokens used for the summary.
        usage: Usage,
    },
    /// It failed, and nothing changed.
    Failed {
        /// Message and hint.
        message: String,
    },
    /// The user interrupted it, and nothing changed.
    Aborted,
}

/// What happened to a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialEvent {
    /// It is open: the agent works in its worktree.
    Open(Arc<Trial>),
    /// Its changes are now in the user's files.
    Kept(Kept),
    /// The conversation continues from before it. The user's files are unchanged.
    Discarded,
}

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Information.
    Info,
    /// A command can't be done now. Nothing changed.
    Refusal,
    /// Something was refused or limited.
    Warning,
    /// Something failed.
    Error,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOutcome {
    /// The model had nothing left to do.
    Done,
    /// Like `Done`, but the last answer was cut at the output limit.
    Truncated,
    /// The user stopped it.
    Aborted,
    /// A model call failed.
    Failed {
        /// Message and hint.
        message: String,
    },
    /// The run made `agent.max_iterations` model calls since the last user message.
    LimitReached {
        /// The limit.
        limit: u32,
    },
    /// The session's budget is used up.
    BudgetReached(BudgetReached),
}

impl RunOutcome {
    /// Returns `true` if it ended with an answer from the model.
    pub fn has_answer(&self) -> bool {
        matches!(self, Self::Done | Self::Truncated)
    }

    /// Its name in sessions and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Truncated => "truncated",
            Self::Aborted => "aborted",
            Self::LimitReached { .. } => "limit_reached",
            Self::BudgetReached(_) => "budget_reached",
            Self::Failed { .. } => "failed",
        }
    }
}

/// A queued message. Its serde form is part of the stored entry's data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// Increases with each queued message of this agent. Used to take the message back.
    pub id: u64,
    /// The queue it waits in.
    pub kind: QueueKind,
    /// Text and images.
    pub content: Vec<Content>,
    /// The sender, as in [`UserMessage::origin`](tiller_llm::UserMessage::origin); `None` if typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// The `origin` of messages that the user sent from another program.
pub const STEER_ORIGIN: &str = "steer";

/// Returns `true` if the user wrote the message, here or in another program, rather than tiller.
pub fn is_from_user(origin: Option<&str>) -> bool {
    matches!(origin, None | Some(STEER_ORIGIN))
}

/// The queue of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueueKind {
    /// Sent before the next group of tool calls or the next model call.
    Steering,
    /// Sent when the agent would otherwise stop.
    FollowUp,
    /// Sent in a new trial. Waits only if tiller ended before the trial began: the user must take it back.
    Trial,
}

/// What the agent is doing. Only the actor sends this; no one should keep a separate flag.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunState {
    /// Waiting for the user.
    #[default]
    Idle,
    /// A run is active.
    Running {
        /// What it is currently waiting for.
        phase: Phase,
    },
    /// The run was aborted, and its last processes are being stopped. A new prompt may start.
    Stopping {
        /// Number of remaining processes.
        processes: usize,
    },
}

impl RunState {
    /// Returns `true` while it waits to retry a failed model call.
    pub fn is_retrying(&self) -> bool {
        matches!(
            self,
            Self::Running {
                phase: Phase::Retrying { .. }
            }
        )
    }
}

/// What a run is waiting for.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The request was sent; there is no answer yet.
    Requesting,
    /// The model is answering.
    Streaming,
    /// Tools are running. Contains their names, in call order.
    Tools(Vec<String>),
    /// A failed call will be retried.
    Retrying {
        /// Number of the next retry, 1-based.
        attempt: u32,
        /// The maximum number of retries.
        max_attempts: u32,
        /// When it starts, as Unix time in milliseconds.
        at: i64,
        /// Why the call failed: one line, without the model's name.
        reason: String,
    },
    /// The conversation is being summarized.
    Compacting,
    /// The files of a trial are being copied, applied or removed.
    Trial(TrialStep),
    /// The user is being asked.
    Asking,
}

/// What is happening to the files of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStep {
    /// The agent copies the user's files to the trial's worktree.
    Begin,
    /// The agent applies the trial's changes to the user's files.
    Keep,
    /// The agent removes the trial's worktree.
    Discard,
}
