//! Markdown to rows, whole or as it streams in.
//!
//! `writer` turns a piece of source into rows, `table` and `fence` have the two blocks with rules of
//! their own, and `stream` decides which piece has to be written again when more text has come.

mod fence;
mod stream;
mod table;
mod writer;

pub use stream::{MarkdownRows, Work};
pub use writer::Sheet;
