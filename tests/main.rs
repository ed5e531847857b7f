//! All integration tests in one binary: one link, shared support.

mod support;

mod agent;
mod cli;
mod llm;
mod process;
mod tools;
mod tui;
