//! The task that owns an agent's state. It reads commands and answers the run, and never waits for
//! a model, tool or subscriber.

mod task;
mod turns;
mod settings;
mod stop;
mod view;
mod compaction;
mod hooks;
mod messages;
mod notes;
mod trial;
mod undo;
mod read_only;
mod activity;
mod conversation;
mod branches;
mod queue;
mod returned;
mod repair;
mod questions;
mod show;
mod subscribers;

pub use task::start;
