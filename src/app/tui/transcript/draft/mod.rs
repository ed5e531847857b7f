//! A preview of a change while the model still writes the call, for the screen: files, totals and
//! the last lines. It takes constant work per piece of text.

mod naming;
mod strings;
mod tail;
mod writing;

pub use naming::{Naming, SUBJECTS};
pub use writing::Draft;
