//! From a cell to its rows.
//!
//! A cell is laid out from its source, its fold and the width alone. What tools were called with
//! is never looked at, only their details.

mod cell;
mod body;
mod title;
mod estimate;

pub use cell::{CellRows, LayoutOptions};
pub use estimate::{estimate, estimate_stored};
