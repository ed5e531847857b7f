//! The branches of a session as users see them: what each entry says on one line, and how two
//! branches differ. Reads sessions; draws nothing and changes nothing.

mod outline;

pub use outline::{EntryKind, Filter, Outline, OutlineEntry};
