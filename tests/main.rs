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
mod day;
mod live;
mod llm;
mod permission;
mod process;
mod sandbox;
mod stories;
mod tools;
mod trial;
mod tui;
mod undo;
mod workspace;
