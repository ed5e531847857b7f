//! The session file: everything that was said, one line each, in pi's session format, version 3.
//! Only appended to; reading and branching come with the session store.

pub mod entry;
pub mod folder;
mod journal;
pub mod log;
mod sync;

pub use entry::Header;
pub(super) use journal::Journal;
pub use log::SessionLog;
