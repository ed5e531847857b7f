//! Layer 2: turns, tools, sessions. No ratatui, no clap, no stdout.

pub mod event;
pub mod handle;
mod actor;
mod ledger;
mod run;
mod turn;
mod attempt;
mod retry;
mod call_ids;
mod dispatch;
mod gate;
mod execution;
mod loop_guard;
mod desk;
mod kit;
mod queue;
mod audience;
pub mod context;
mod context_json;
pub mod memory;
pub mod options;
pub mod process;
pub mod session;
pub mod tool;
pub mod toolbox;
mod schema;
pub mod tools;

pub use actor::start;
pub use context::Context;
pub use event::{
    AgentEvent, Event, NoticeLevel, Phase, QueueKind, Queued, RunOutcome, RunState, ToolStatus,
};
pub use handle::{AgentHandle, Command};
pub use options::{AgentOptions, LoopGuardRules, LoopRules, QueueMode, RetryRules, ToolSettings};
pub use tool::{Details, Progress, Tool, ToolContext, ToolError, ToolOutput};
pub use toolbox::{ToolSelection, ToolSet, Toolbox};
