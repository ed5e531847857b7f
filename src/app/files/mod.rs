//! The files of a project by name: read once in the background, held in memory, found by a few letters.

mod walk;
mod index;

pub use index::FileIndex;
pub(crate) use walk::{Found, walk};
