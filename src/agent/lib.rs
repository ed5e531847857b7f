//! A coding agent without a screen: it asks a model, runs the tools that the model calls, and repeats.
//!
//! This crate stores each message in a session file, decides what a tool call may do, runs commands in a
//! sandbox, and undoes file changes. It knows no terminal and no vendor, and prints nothing.
//!
//! - [`start`] takes [`AgentOptions`] and returns an [`AgentHandle`], the only interface to the agent.
//! - [`AgentEvent`] says what happens. Every subscriber gets the same events.
//! - [`Tool`] is an action that a model can request. [`tools::builtin`] has tiller's own, and a [`Toolbox`]
//!   holds those of one agent.
//! - [`session::Session`] is the file with the conversation, a tree of entries.
//! - [`permission::Policy`] says which calls need a [`Question`] to the user.
//! - [`undo::Undo`] saves files before a turn changes them.
//!
//! # Start an agent
//!
//! This agent lists the files of a folder and answers. A script plays the model; for a real one, pass
//! a [`tiller_llm::Client`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use tiller_agent::{AgentEvent, AgentOptions, SlowReader};
//! use tiller_llm::Content;
//! use tiller_llm::scripted::{Script, Scripted, demo_model};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = r#"
//!     reply = [{ steps = [{ call = "ls" }] }, { steps = [{ text = "One file." }] }]
//! "#;
//! let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("notes.md"), "hello")?;
//! let provider = Arc::new(Scripted::new(Script::parse(script)?));
//! let agent = tiller_agent::start(AgentOptions::new(provider, demo_model(), folder.path()));
//!
//! let mut events = agent.subscribe(SlowReader::Wait);
//! agent.prompt(vec![Content::text("What is in this folder?")]);
//! let mut last = String::new();
//! while let Some(event) = events.recv().await {
//!     match &event.kind {
//!         AgentEvent::MessageEnd { message } => last = message.text(),
//!         AgentEvent::AgentSettled { .. } => break,
//!         _ => {}
//!     }
//! }
//! agent.shutdown().await;
//! assert_eq!(last, "One file.");
//! # Ok(())
//! # }
//! ```
//!
//! Three programs in `examples/` build on this: `agent` asks a real model in forty lines, `own_tool` adds
//! a tool, and `own_front_end` steers, answers questions and saves the session.

pub mod options;
pub mod rules;
pub mod budget;
pub mod handle;
mod current_run;
pub mod event;
mod run_totals;
mod actor;
mod refused;
mod runner;
mod tool_status;

pub use runner::{JudgedCommand, LOOP_GUARD_ORIGIN, judge_command};

pub mod session;
pub mod memory;
pub mod git;
pub mod trial;
pub mod undo;
mod details;
mod todo;
mod session_work;
pub mod tool;
pub mod question;
pub mod toolbox;
mod schema;
mod violations;
pub mod diff;
pub mod tools;
pub mod workspace;
mod paths;
mod stored_path;
mod stamp;
mod hash;
mod new_file;
mod aside;
mod new_id;
pub mod word_list;
mod lock;
pub mod process;
pub mod permission;
pub mod hooks;
pub mod mcp;

pub use actor::start;
pub use budget::{Budget, BudgetLimit, BudgetReached};
pub use event::{
    AgentEvent, CompactionOutcome, CompactionReason, Event, NoticeLevel, Phase, QueueKind, Queued,
    RunId, RunOutcome, RunState, STEER_ORIGIN, ToolStatus, TrialEvent,
};
pub use event::{TrialStep, is_from_user};
pub use handle::{
    Accept, AgentHandle, Delivery, Leaving, OpenRefused, OpenSession, Refused, SessionInfo,
    SlowReader, Snapshot, Submission,
};
pub use memory::compaction::{ContextKind, ContextPart, ContextUsage};
pub use options::{AgentOptions, LazyRedactor, PermissionOptions, RuleSource};
pub use question::{Answer, Asker, ChoiceSubject, PermissionSubject, Question, Subject};
pub use rules::{CompactionRules, LoopGuardRules, LoopRules, QueueMode, RetryRules, Threshold};
pub use run_totals::{RunCounter, RunEnd, RunTotals};
pub use session_work::{ChangedFile, SessionWork};
pub use todo::{TodoDetails, TodoItem, TodoStatus};
pub use tool::{Details, Effects, Progress, Tool, ToolContext, ToolError, ToolOutput};
pub use toolbox::{ToolSelection, Toolbox};
pub use tools::ToolSettings;
