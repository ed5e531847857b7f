//! The bash tool: runs a command, cleans and cuts its output, and saves all of it on disk.
//!
//! `agent::process` stops the command and everything it started.

#[expect(
    clippy::module_inception,
    reason = "the tool itself, beside what it makes of the output"
)]
mod bash;
mod output;
mod clean;
mod excerpt;
mod spill;

pub use bash::{Bash, Line};
pub use output::Output;
