//! A session's branches as users see them: one line per entry. Reads sessions; draws and changes
//! nothing.

mod outline;

pub use outline::Outline;
pub(crate) use outline::{EntryKind, Filter, OutlineEntry};
