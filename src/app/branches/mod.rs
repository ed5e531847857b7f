//! The branches of a session as users see them: what each entry says on one line, and how two
//! branches differ. Reads sessions; draws nothing and changes nothing.

mod comparison;
mod outline;

pub use comparison::compare;
pub(crate) use comparison::{ComparisonLine, comparison_lines};
pub use outline::Outline;
pub(crate) use outline::{EntryKind, Filter, OutlineEntry};
