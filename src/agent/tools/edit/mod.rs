//! Changing one file: the tools `edit` and `replace` (`tool`) and `write`, what is done with texts
//! (`exchange`: found in `matching`, put in by `splice`, shown by `diff`), and how a file is
//! changed safely (`target`: one queue a file, what the model has seen in `stamps`, all or nothing
//! in `atomic`). `patch` uses the latter half.

mod tool;
mod write;
mod exchange;
pub mod matching;
pub mod splice;
pub mod diff;
pub mod target;
pub mod stamps;
pub mod atomic;

pub use tool::Edit;
pub use write::Write;
