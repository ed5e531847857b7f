//! Trying something out on a copy of the user's files: a git worktree outside the repository that
//! begins with what is there now. What is kept is merged back, all of it or nothing; what is
//! discarded leaves no trace. Blocks: callers run it off the threads of the runtime.
//!
//! Git lists the files, keeps versions of them and merges texts; the copies themselves are plain
//! bytes, so that no filter, line end rule or hook has a say. The user's index, refs and stash are
//! never written, and versions go into an object folder of the trial's own.

mod trial;
mod repository;
mod snapshot;
mod listing;
mod copy;
mod objects;
mod changes;
mod merge;
mod write_back;
mod journal;
mod cleanup;
mod git;
mod error;

pub use changes::Changed;
pub use error::{Obstacle, TrialError};
pub use trial::{Kept, Started, Trial};
