//! What leaves the agent: one stream of events, the same for every front end.
//!
//! Events nest like brackets: agent, turn, message, tool execution. An `*End` event carries the
//! whole truth, so a front end that missed updates is right again at the next end. `AgentEnd` also
//! ends what a run that broke down by a fault of its own has left open. pi's record
//! shapes (`--mode json`, RPC) are made from these by the front ends, not here.

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
use crate::llm::{Content, Message, Model, StopReason, StreamEvent, ThinkingLevel, Usage};

/// One event with its place and time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Rises by one with every event of this agent, from 1.
    pub seq: u64,
    /// Unix time in milliseconds.
    pub time: i64,
    /// What happened.
    pub kind: AgentEvent,
}

pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// What happened.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// A run began.
    AgentStart,
    /// A run ended; nothing of it is in flight any more.
    AgentEnd {
        /// The messages this run added, in order.
        messages: RunMessages,
        /// How it ended.
        outcome: RunOutcome,
        /// What it came to.
        totals: RunTotals,
    },
    /// Nothing will go on by itself: no queue, no retry, no compaction is left.
    AgentSettled {
        /// Whether the user stopped it.
        aborted: bool,
    },
    /// One model call and its tools begin.
    TurnStart {
        /// Number of the iteration on the way to it in the session, from 1.
        iteration: usize,
    },
    /// One model call and its tools ended.
    TurnEnd {
        /// The assistant message.
        message: Arc<Message>,
        /// Its tools' results, in call order.
        tool_results: Vec<Arc<Message>>,
    },
    /// A request leaves for a model. In sessions only: pi has no record of it.
    ApiCallStart {
        /// The model as `provider/id`.
        model: String,
    },
    /// The answer is whole, cut short, or failed.
    ApiCallEnd {
        /// Why it ended.
        stop_reason: StopReason,
        /// Milliseconds until the answer said something, if it did.
        first_token_ms: Option<u64>,
        /// Milliseconds until its end.
        duration_ms: u64,
    },
    /// A message began. For user messages and tool results it is already whole.
    MessageStart {
        /// The message; an assistant message is pending and empty.
        message: Arc<Message>,
    },
    /// The assistant message grew; fold it with `AssistantMessage::apply`.
    MessageUpdate {
        /// The step.
        event: StreamEvent,
    },
    /// A message is whole, and on disk if there is a session.
    MessageEnd {
        /// The message as stored.
        message: Arc<Message>,
    },
    /// A tool call begins (also one that will be skipped or refused: starts and ends pair).
    ToolStart {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The arguments, for records; the screen reads `details`.
        args: Arc<Value>,
        /// What the screen shows until something better comes.
        details: Arc<Details>,
    },
    /// A tool reports progress; the latest replaces what came before. Lossy.
    ToolUpdate {
        /// The call's id.
        call_id: String,
        /// What the screen shows now.
        details: Arc<Details>,
    },
    /// A tool call ended.
    ToolEnd {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// How it went.
        status: ToolStatus,
        /// The result for the model.
        content: Vec<Content>,
        /// What the screen shows from now on.
        details: Arc<Details>,
        /// Milliseconds by a monotonic clock; absent when it did not run.
        duration_ms: Option<u64>,
    },
    /// The waiting messages changed; both queues, whole.
    QueueUpdate {
        /// Delivered between tool calls.
        steering: Vec<Queued>,
        /// Delivered when the agent would stop.
        follow_up: Vec<Queued>,
    },
    /// What calls may do without a question changed.
    PermissionMode(PermissionMode),
    /// What the session may spend changed.
    Budget(Budget),
    /// The questions that calls wait with changed; all of them, in the order they were asked.
    Questions {
        /// Those that wait for an answer.
        open: Vec<Arc<Question>>,
    },
    /// A call needed permission and nobody can be asked, so it is refused.
    Refused(Arc<Question>),
    /// Queued messages go back to the user, who puts them before the draft: after an abort
    /// (steering first) or because they asked.
    QueueReturned {
        /// In the order they go into the editor.
        messages: Vec<Queued>,
    },
    /// What the agent is doing changed.
    State(RunState),
    /// Another session took the place of the one before.
    SessionOpened {
        /// Its conversation so far, as a model reads it.
        facts: Arc<HistoryFacts>,
        /// The same as the user reads it.
        branch: Arc<SessionBranch>,
        /// Its file; none for one that is not stored.
        path: Option<PathBuf>,
        /// The name the user gave it.
        name: Option<String>,
        /// What the user said first in it.
        first_prompt: Option<String>,
        /// Whether it is only read: nothing is sent or stored.
        read_only: bool,
    },
    /// Changes of files were undone, or made again.
    FilesUndone {
        /// Which way.
        direction: Direction,
        /// The files, and the lines that came and went.
        files: Vec<ChangedFile>,
    },
    /// The conversation goes on from another entry of its session.
    Moved {
        /// It, up to there, as a model reads it.
        facts: Arc<HistoryFacts>,
        /// The same as the user reads it.
        branch: Arc<SessionBranch>,
        /// The prompt that was chosen: it may be edited and sent again from there.
        prompt: Option<Vec<Content>>,
    },
    /// The model or thinking level for the next call changed.
    ModelChanged {
        /// The model.
        model: Arc<Model>,
        /// The level.
        thinking: ThinkingLevel,
    },
    /// A model call failed and will be tried again.
    RetryStart {
        /// Number of the retry, from 1.
        attempt: u32,
        /// How many there are at most.
        max_attempts: u32,
        /// How long it waits before it, in milliseconds.
        delay_ms: u64,
        /// What went wrong.
        error: String,
    },
    /// The retries of a model call are over.
    RetryEnd {
        /// Number of the last retry.
        attempt: u32,
        /// Why there is no answer; none when there is one.
        final_error: Option<String>,
    },
    /// A summary of the conversation is being made.
    CompactionStart {
        /// Why.
        reason: CompactionReason,
        /// Tokens of the conversation, about.
        tokens_before: u64,
    },
    /// The summary is in place, or there is none.
    CompactionEnd {
        /// Why it was made.
        reason: CompactionReason,
        /// What came of it.
        outcome: CompactionOutcome,
    },
    /// Tokens were spent beside the conversation, on what no other event says: a summary that did not
    /// come about, or that of a branch.
    Spent {
        /// What for, as the session names it.
        kind: &'static str,
        /// Who was asked.
        model: Arc<Model>,
        /// Tokens and cost.
        usage: Usage,
    },
    /// A trial began, goes on, or ended.
    Trial(TrialEvent),
    /// Something the user should read; the run goes on or ends by itself.
    Notice {
        /// How grave.
        level: NoticeLevel,
        /// What happened, and the way out.
        text: String,
    },
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionReason {
    /// The user wants it.
    Manual,
    /// It takes too much of the window.
    Threshold,
    /// The provider refused it as too long.
    Overflow,
}

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionOutcome {
    /// The summary and the latest messages are the conversation from here on.
    Done {
        /// The summary.
        summary: String,
        /// The session entry of the first message that stays.
        first_kept_entry_id: String,
        /// Tokens of the conversation before, about.
        tokens_before: u64,
        /// Tokens of the conversation after, about.
        tokens_after: u64,
        /// Tokens the summary took.
        usage: Usage,
    },
    /// Everything is as it was.
    Failed {
        /// Message and hint.
        message: String,
    },
    /// The user wanted something else; everything is as it was.
    Aborted,
}

/// What became of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialEvent {
    /// One is open: the agent works in its worktree.
    Open(Arc<Trial>),
    /// Its changes are in the user's files.
    Kept(Kept),
    /// The conversation goes on from before it; the user's files are as they were.
    Discarded,
}

/// How grave a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// A command cannot be done now, and nothing has changed.
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
    /// The same, but the last answer was cut at the output limit.
    Truncated,
    /// The user stopped it.
    Aborted,
    /// A model call failed.
    Failed {
        /// Message and hint.
        message: String,
    },
    /// `agent.max_iterations` model calls were made since the last message of the user.
    LimitReached {
        /// The limit.
        limit: u32,
    },
    /// What the session may spend is spent.
    BudgetReached(BudgetReached),
}

impl RunOutcome {
    /// Whether it ended with an answer of the model.
    pub fn has_answer(&self) -> bool {
        matches!(self, Self::Done | Self::Truncated)
    }
}

/// A message that waits for its moment. Its serde form is in the data of the stored entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// Rises by one with each queued message of this agent; names it for taking back.
    pub id: u64,
    /// Which queue.
    pub kind: QueueKind,
    /// Text and images.
    pub content: Vec<Content>,
    /// Where it came from, as in [`UserMessage::origin`](crate::llm::UserMessage::origin); none when
    /// it was typed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// The `origin` of messages that the user sent from another program.
pub const STEER_ORIGIN: &str = "steer";

/// Whether the user said it, here or from another program, and not the program in their place.
pub fn is_from_user(origin: Option<&str>) -> bool {
    matches!(origin, None | Some(STEER_ORIGIN))
}

/// Which queue a message waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueueKind {
    /// Goes out before the next group of tool calls or the next model call.
    Steering,
    /// Goes out when the agent would otherwise stop.
    FollowUp,
}

/// What the agent is doing. Sent by the actor; nobody keeps a flag beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunState {
    /// Waiting for the user.
    #[default]
    Idle,
    /// A run is under way.
    Running {
        /// What it is waiting for right now.
        phase: Phase,
    },
    /// The run has ended by abort; processes of it are still dying. A new prompt may start.
    Stopping {
        /// Processes still alive.
        processes: usize,
    },
}

impl RunState {
    /// Whether it waits before it tries a failed model call again.
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
    /// The request left; no answer yet.
    Requesting,
    /// The model is answering.
    Streaming,
    /// Tools run; their names, in call order.
    Tools(Vec<String>),
    /// A failed call will be tried again.
    Retrying {
        /// Number of the coming retry, from 1.
        attempt: u32,
        /// How many there are at most.
        max_attempts: u32,
        /// Unix time in milliseconds at which it starts.
        at: i64,
        /// What went wrong: one line, without the name of the model.
        reason: String,
    },
    /// The conversation is being summarised.
    Compacting,
    /// The files of a trial are copied, taken over or removed.
    Trial(TrialStep),
    /// The user is asked.
    Asking,
}

/// What is done with the files of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialStep {
    Begin,
    Keep,
    Discard,
}
