//! Markdown to rows, whole or as it streams in.
//!
//! `writer` turns a `piece` of source into rows, `table` and `fence` have the two blocks with rules of
//! their own, and `stream` decides which piece has to be written again when more text has come.

mod stream;
mod piece;
mod writer;
mod fence;
mod table;

pub use piece::Sheet;
pub use stream::{MarkdownRows, Work};
