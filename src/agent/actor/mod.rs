//! The task that owns an agent's state: it reads commands and answers the run. It waits for no
//! model, tool or subscriber.

mod task;
mod turns;
mod settings;
mod view;
mod compaction;
mod messages;
mod notes;
mod trial;
mod undo;
mod read_only;
mod activity;
mod conversation;
mod branches;
mod context;
mod queue;
mod repair;
mod questions;
mod show;
mod subscribers;

pub use task::start;
