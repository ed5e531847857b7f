//! The task that owns an agent's state: it reads commands and answers the run. It waits for no
//! model, tool or subscriber.

mod task;
mod turns;
mod view;
mod compaction;
mod external;
mod trial;
mod read_only;
mod activity;
mod conversation;
mod branches;
mod context;
mod queue;
mod questions;
mod permission;
mod model;
mod subscribers;

pub use task::start;
