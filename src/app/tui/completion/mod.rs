//! What can stand where the caret is: commands behind `/`, their arguments, files behind `@`, paths.
//!
//! Plain data and pure functions. The list grows out of the editor, which keeps the keys: only moving,
//! taking and closing are the list's. What is found in the world comes from effects.

mod token;
mod candidate;
mod commands;
mod arguments;
mod files;
mod state;

pub(crate) use arguments::{InForce, arguments};
pub(crate) use candidate::Candidate;
pub(crate) use commands::{commands, waits_for_argument};
pub(crate) use files::{file_candidates, path_candidates, wanted};
pub(crate) use state::Completion;
pub use state::CompletionKind;
pub(crate) use token::{Token, token};
