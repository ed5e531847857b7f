//! Hooks: the user's own commands that tiller runs at certain points. They learn what happens from
//! JSON on standard input; with their exit code or JSON on standard output they can refuse a call,
//! change it, or tell the model something.
//!
//! Names, fields and answers are those of Claude Code's hooks, so that people's scripts work
//! unchanged: <https://docs.claude.com/en/docs/claude-code/hooks>. A hook that fails, hangs or
//! answers nonsense decides nothing; the user sees which one it was.

mod point;
mod matcher;
mod condition;
mod hook;
mod hook_file;
mod source;
mod claude_names;
mod input;
mod message;
mod codex;
mod variables;
mod command;
mod post;
mod answer;
mod history;
mod fire;

pub use fire::Hooks;
pub use history::HookRuns;
pub use hook::{Hook, HookAction, HookPost};
pub use hook_file::{HookFile, read_hooks};
pub use input::FROM_FILE;
pub use point::HookPoint;
pub use source::{FoundHooks, HookEnvironment, HookSource};

pub(crate) use answer::{Decision, Outcome};
pub(crate) use claude_names::from_input;
pub(crate) use hook_file::quoted;
pub(crate) use input::HookInput;
pub(crate) use message::HookSession;

/// The origin of messages to the model that hooks wrote.
pub const HOOK_ORIGIN: &str = "hook";
