//! Trials: working on a copy of the user's files in a git worktree outside the repository, starting
//! from their current state. A kept trial is merged back, all or nothing; a discarded one leaves no
//! trace. This code blocks, so callers run it off the runtime's threads.
//!
//! Git lists the files, stores their versions and merges texts. The copies themselves are plain
//! bytes, so no filter, line end rule or hook can interfere. The user's index, refs and stash are
//! never written, and versions go into the trial's own object folder.

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
mod ignored;
mod journal;
mod write;
mod cleanup;
mod error;

pub use begin::{Started, begin};
pub use changes::{Changed, changes};
pub use cleanup::{discard, remove};
pub(super) use copy::{Found, Looker, is_gone, write_whole};
pub use error::{Obstacle, TrialError};
pub use ignored::{CopiedIgnored, not_copied};
pub use keep::{Kept, keep, recover};
pub(super) use listing::stays_within;
pub use record::{Trial, abandoned};
