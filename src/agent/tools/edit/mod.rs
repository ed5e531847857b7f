//! Changing one file. `tool` has the tools `edit` and `replace`, `write` the tool `write`. `text_edits`
//! works on texts: `matching` finds them, `splice` replaces them, `diff` shows the result. `change` plans
//! a change, then makes it safely: `locked_file` has one queue per file, `seen_files` knows what the
//! model has seen, `atomic` writes all or nothing. `patch` uses these too, and `index` to find its lines.

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
