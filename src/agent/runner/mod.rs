//! One run: the loop with its model calls and tool calls, in its own task. It owns no conversation:
//! over `link` it reports to the actor and requests the next step.

mod run;
mod turn;
mod compact;
mod summary;
mod leave_branch;
mod attempt;
mod wait;
mod retry;
mod call_ids;
mod dispatch;
mod cover;
mod allowed;
mod gate;
mod hooks;
mod mcp;
mod ask;
mod live_policy;
mod permissions;
mod running_command;
mod judged_command;
mod held;
mod ignored;
mod execution;
mod confined;
mod look_ahead;
mod redaction;
mod refusal;
mod loop_guard;
mod trial;
mod undo;
mod env;
mod lookout;
mod link;

pub(super) use compact::compact_now;
pub(super) use cover::{close_turn, cover_home};
pub(super) use env::RunEnv;
pub(super) use hooks::PromptVerdict;
pub use judged_command::{JudgedCommand, judge_command};
pub(super) use leave_branch::leave_branch;
pub(super) use link::{
    BranchText, Change, CompactRequest, Leave, Opening, RunLink, RunMessage, Step, Summary,
    TrialReport, Turn, Undone,
};
pub(super) use live_policy::LivePolicy;
pub(super) use lookout::Folders;
pub use loop_guard::ORIGIN as LOOP_GUARD_ORIGIN;
pub(super) use permissions::Permissions;
pub(super) use run::run;
pub(super) use summary::BRANCH_SUMMARY;
pub(super) use trial::{discard, keep, try_out};
pub(super) use undo::{rewind, undo_turn};
