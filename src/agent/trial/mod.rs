//! Trying something out on a copy of the user's files: a git worktree outside the repository that
//! begins with what is there now. What is kept is merged back, all of it or nothing; what is
//! discarded leaves no trace. Blocks: callers run it off the threads of the runtime.
//!
//! Git lists the files, keeps versions of them and merges texts; the copies themselves are plain
//! bytes, so that no filter, line end rule or hook has a say. The user's index, refs and stash are
//! never written, and versions go into an object folder of the trial's own.

mod begin;
mod keep;
mod record;
mod repository;
mod listing;
mod copy;
mod copies;
mod snapshot;
mod objects;
mod changes;
mod merge;
mod journal;
mod write;
mod confine;
mod cleanup;
mod abandoned;
mod git;
mod error;

pub use abandoned::abandoned;
pub use begin::{Started, begin};
pub use changes::{Changed, changes};
pub use cleanup::{discard, remove};
pub(super) use confine::refuse;
pub(super) use copy::{Found, Looker, is_gone, write_whole};
pub use error::{Obstacle, TrialError};
pub(super) use git::Git;
pub use keep::{Kept, keep, recover};
pub(super) use listing::stays_within;
pub use record::Trial;
