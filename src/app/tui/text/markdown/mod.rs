//! Turns markdown into rows, whole or as it streams in.
//!
//! `writer` turns a `chunk` of source into rows. `table` and `fence` handle two special blocks.
//! `stream` decides which chunk to write again when more text arrives.

mod stream;
mod chunk;
mod container;
mod writer;
mod words;
mod inline;
mod html;
mod link;
mod fence;
mod table;
mod code_blocks;
mod plain;

pub(crate) use code_blocks::code_blocks;
pub(crate) use plain::PlainText;
pub use stream::MarkdownRows;
