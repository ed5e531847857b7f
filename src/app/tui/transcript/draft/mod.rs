//! What a change is going to be, while the model still writes the call: files, counts and the last
//! lines, for the screen. Never complete, never applied. Constant work per piece of text.

mod naming;
mod strings;
mod tail;
mod writing;

pub use naming::{Naming, SUBJECTS};
pub use writing::Draft;
