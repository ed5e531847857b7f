//! The bash tool: runs a command, cleans and cuts its output, keeps the whole of it on disk.
//!
//! How a command and all it starts are ended is `agent::process`.

#[expect(
    clippy::module_inception,
    reason = "the tool itself, beside what it makes of the output"
)]
mod bash;
mod output;
mod clean;
mod excerpt;
mod spill;

pub use bash::Bash;
pub(crate) use output::Output;
