//! Markdown to rows, whole or as it streams in.
//!
//! `writer` turns a `chunk` of source into rows, `table` and `fence` have the two blocks with rules of
//! their own, and `stream` decides which chunk has to be written again when more text has come.

mod stream;
mod chunk;
mod container;
mod writer;
mod words;
mod inline;
mod math;
mod html;
mod link;
mod fence;
mod table;
mod code_blocks;
mod plain;

pub(crate) use code_blocks::code_blocks;
pub(crate) use plain::PlainText;
pub use stream::MarkdownRows;
