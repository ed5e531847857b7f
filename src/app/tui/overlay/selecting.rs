//! Selecting with the keys, as plain data. The cursor itself is the transcript's.

use crate::app::tui::transcript::Unit;

/// What the keys do now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectMode {
    /// What is selected at once; none while only the cursor moves.
    pub unit: Option<Unit>,
}
