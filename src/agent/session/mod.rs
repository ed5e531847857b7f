//! The session: everything that was said, one line each, in pi's session format, version 3. A
//! file, the tree of its entries, and the conversation at a leaf of it. Beside it, what other
//! programs can see: which sessions are open and what they do, and which are stored.

pub mod entry;
mod file;
pub mod folder;
mod history;
pub mod list;
pub mod live;
pub mod reader;
mod store;
mod sync;
pub mod tree;

pub use entry::{Body, Header};
pub use history::{History, SUMMARY_ORIGIN};
pub use list::{SessionHead, StoredSession, all_sessions, sessions_in};
pub use live::{Presence, PresenceRecord, SessionState, live_sessions};
pub use store::{OpenError, SaveNotice, Session};
pub use tree::{NodeId, Tree};
