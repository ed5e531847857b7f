//! All integration tests in one binary, so that they link once and share their support code.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod support;

mod tidy;
mod words;

mod agent;
mod cli;
#[cfg(feature = "tui")]
mod day;
mod live;
mod llm;
mod permission;
mod process;
mod sandbox;
#[cfg(feature = "tui")]
mod stories;
mod tools;
mod trial;
#[cfg(feature = "tui")]
mod tui;
mod undo;
mod workspace;
