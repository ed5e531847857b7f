//! Commands and their process trees under the real supervisor: what the result says, and that no
//! process survives.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bash_tool;
mod results;
mod output;
mod secrets;
pub mod survivors;
mod killed;
mod scopes;
mod program;
mod figures;
