//! The session: everything that was said, one line each, in pi's session format, version 3. A
//! file, the tree of its entries, and the conversation at a leaf of it. Beside it, what other
//! programs can see: which sessions are open and what they do, and which are stored.

mod branch;
pub mod entry;
mod file;
mod find_text;
pub mod folder;
mod compare;
mod fork_at;
mod head;
mod history;
mod history_facts;
mod index;
mod iterations;
mod iteration_summary;
mod kind;
mod lifecycle;
pub mod list;
pub mod live;
mod outputs;
mod queued;
pub mod reader;
mod snapshot;
mod store;
mod sync;
mod trash;
mod trials;
pub mod tree;
mod view;

pub use branch::{RunMessages, SessionBranch};
pub use compare::{BranchTail, ComparedEntry, Comparison};
pub use entry::{Body, Header};
pub use find_text::{Found, Words};
pub use fork_at::prompt_of;
pub use head::SessionHead;
pub use history::{History, SUMMARY_ORIGIN};
pub use history_facts::HistoryFacts;
pub(super) use history_facts::{begins_end, end_of, is_unanswered};
pub use index::SessionIndex;
pub use iteration_summary::{CallSummary, IterationSummary};
pub use iterations::{Iteration, IterationCall};
pub use lifecycle::CallState;
pub use list::{StoredSession, all_sessions, sessions_in};
pub use live::{Presence, PresenceRecord, SessionState, live_sessions};
pub use snapshot::{Entries, SessionSnapshot};
pub use store::{OpenError, SaveNotice, Session};
pub use trash::move_to_trash;
pub use tree::{NodeId, Place, Tree};
pub use trials::ready_trial;
pub(super) use trials::{State as TrialState, open_trial, trial_entry};
pub use view::{SessionView, StoredEntry};
