//! Completion at the caret: commands after `/`, their arguments, files after `@`, and paths.
//!
//! Plain data and pure functions. The editor keeps the focus; the list uses only the keys to move,
//! accept and close. Effects search files and folders.

mod token;
mod candidate;
mod commands;
mod arguments;
mod files;
mod state;

pub(crate) use arguments::{InForce, arguments};
pub(crate) use candidate::Candidate;
pub(crate) use commands::{begins_a_command, commands, waits_for_argument};
pub(crate) use files::{file_candidates, path_candidates, takes_lines, wanted};
pub(crate) use state::Completion;
pub use state::CompletionKind;
pub(crate) use token::{Token, token};
