//! The agent against a scripted provider, with tools that wait for the test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;
mod refusals;

mod compaction;
mod iterations;
mod prompt;
mod questions;
mod text;
mod tools;
mod todo;
mod details;
mod steering;
mod abort;
mod failures;
mod instructions;
mod lifecycle;
mod budget;
mod secrets;
mod limits;
mod long_conversation;
mod loop_guard;
mod rehearsals;
mod retries;
mod fallback;
mod permission;
mod pressure;
mod log;
mod processes;
mod killed;
mod session_cut;
mod session_faults;
mod session_tree;
mod branches;
mod sessions;
mod stored;
mod trials;
mod clients;
mod hooks;
mod nothing_lost;
mod append_only;
mod parity;
