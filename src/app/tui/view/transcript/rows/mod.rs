//! Lays out a cell as rows.
//!
//! The layout depends only on the cell's source, its fold and the width. It uses the details of a
//! call, never its arguments.

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
