//! Changing one file: the tools `edit` and `replace` (`tool`) and `write`, what is done with texts
//! (`text_edits`: found in `matching`, put in by `splice`, shown by `diff`), and how a file is
//! changed safely (`change`: first worked out, then made; `locked_file`: one queue a file, what the model has seen in `seen_files`, all or
//! nothing in `atomic`). `patch` uses the latter half, and `index` to find its lines.

mod tool;
mod write;
mod text_edits;
mod matching;
mod fold;
pub mod index;
pub mod splice;
pub mod diff;
pub mod change;
pub mod locked_file;
pub mod seen_files;
pub mod atomic;

pub use tool::Edit;
pub use write::Write;
