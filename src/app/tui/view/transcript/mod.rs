//! The transcript's area of the screen: from cells to rows, and from rows to the buffer.

mod rows;
mod heights;
mod standing;
mod cache;
mod draw;
mod anchor;
mod prompts;
mod select;
mod caret;
mod changed_line;
mod find;
mod links;
mod print;

pub use cache::TranscriptCache;
pub use draw::draw;
pub(crate) use links::paint_links;
pub use print::{Printed, Ready, print, unprinted};
pub(super) use rows::subject_of;
