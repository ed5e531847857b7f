//! All integration tests in one binary: one link, shared support.

mod support;

mod tidy;

mod agent;
mod cli;
mod llm;
mod process;
mod tools;
mod tui;
