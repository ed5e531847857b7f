//! The session: every message as a line in pi's session format, version 3. Contains the file, the
//! tree of its entries, and the conversation at a leaf. Also lists which sessions are stored, and
//! which are open and what they are doing.

mod branch;
mod choices;
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
mod kind;
mod lifecycle;
mod list;
mod outputs;
mod presence;
mod queued;
mod reader;
mod store;
mod sync;
mod trash;
mod trials;
mod tree;
mod view;

pub use branch::{RunMessages, SessionBranch};
pub use compare::{BranchTail, ComparedEntry, Comparison};
pub use entry::{Body, Header, ModelChange};
pub use find_text::{Found, Words};
pub(super) use folder::make_private;
pub use fork_at::prompt_of;
pub use head::SessionHead;
pub use history::{History, SUMMARY_ORIGIN};
pub use history_facts::HistoryFacts;
pub(super) use history_facts::end_of;
pub use index::SessionIndex;
pub use iterations::{CallSummary, Iteration, IterationCall, IterationSummary};
pub use lifecycle::CallState;
pub use list::{StoredSession, all_sessions, sessions_in};
pub use presence::{Presence, PresenceError, PresenceRecord, SessionState, live_sessions};
pub use store::{OpenError, SaveNotice, Session};
pub use trash::move_to_trash;
pub use tree::{Node, NodeId, Place, Tree};
pub use trials::ready_trial;
pub(super) use trials::{State as TrialState, open_trial, trial_entry};
pub use view::{SessionView, StoredEntry};
