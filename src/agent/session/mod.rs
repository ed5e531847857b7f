//! The session file: everything that was said, one line each, in pi's session format, version 3.
//! Only appended to; reading it back and branching come with the session store. Beside it, what
//! other programs can see: which sessions are open and what they do, and which are stored.

pub mod entry;
pub mod folder;
pub mod list;
pub mod live;
pub mod log;
mod sync;

pub use entry::Header;
pub use list::{SessionHead, StoredSession, all_sessions, sessions_in};
pub use live::{Presence, PresenceRecord, SessionState, live_sessions};
pub use log::SessionLog;
