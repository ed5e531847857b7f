//! Layer 2: turns, tools, sessions. No ratatui, no clap, no stdout.

pub mod options;
pub mod rules;
pub mod budget;
pub mod handle;
pub mod event;
mod run_totals;
mod actor;
mod refused;
mod runner;
mod tool_status;

pub use runner::{LOOP_GUARD_ORIGIN, judge_command};

pub mod session;
pub mod memory;
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
mod file_lock;
mod stamp;
mod hash;
mod new_file;
mod aside;
mod new_id;
pub mod word_list;
mod lock;
pub mod process;
pub mod permission;

pub use actor::start;
pub use budget::{Budget, BudgetLimit, BudgetReached};
pub use event::{
    AgentEvent, CompactionOutcome, CompactionReason, Event, NoticeLevel, Phase, QueueKind, Queued,
    RunOutcome, RunState, STEER_ORIGIN, ToolStatus, TrialEvent,
};
pub use event::{TrialStep, is_from_user};
pub use handle::{
    AgentHandle, Delivery, ExternalMessage, Leaving, OpenRefused, OpenSession, Refused, SlowReader,
    Snapshot, WhenIdle,
};
pub use memory::compaction::{ContextKind, ContextPart, ContextUsage};
pub use options::{AgentOptions, LazyRedactor, PermissionOptions};
pub use question::{Answer, Asker, ChoiceSubject, PermissionSubject, Question, Subject};
pub use rules::{CompactionRules, LoopGuardRules, LoopRules, QueueMode, RetryRules, Threshold};
pub use run_totals::{RunCounter, RunEnd, RunTotals};
pub use session_work::{ChangedFile, SessionWork};
pub use todo::{TodoDetails, TodoItem, TodoStatus};
pub use tool::{Details, Effects, Progress, Tool, ToolContext, ToolError, ToolOutput};
pub use toolbox::{ToolSelection, Toolbox};
pub use tools::ToolSettings;
