//! From a cell to its rows.
//!
//! A cell is laid out from its source, its fold and the width alone. What tools were called with
//! is never looked at, only their details.

mod cell;
mod shape;
mod body;
mod pieces;
mod title;
mod looking;
mod picture;
mod prompt;
mod estimate;

pub use cell::{CellRows, LayoutOptions};
pub use estimate::{estimate, estimate_stored};
pub use looking::{Header, Part, PartRow};
pub use shape::is_one_line;
pub use title::subject_of;
