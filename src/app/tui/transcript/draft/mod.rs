//! A preview of a change while the model still writes the call: files, line counts and the last
//! lines, for the screen only. It takes constant work per piece of text.

mod naming;
mod strings;
mod tail;
mod writing;

pub use naming::{Naming, SUBJECTS};
pub use writing::Draft;
