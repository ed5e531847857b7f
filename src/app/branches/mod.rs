//! A session's branches as users see them: one line per entry, and how two branches differ. Reads
//! sessions; draws and changes nothing.

mod comparison;
mod outline;

pub(crate) use comparison::{ComparisonLine, comparison_lines};
pub use outline::Outline;
pub(crate) use outline::{EntryKind, Filter, OutlineEntry};
