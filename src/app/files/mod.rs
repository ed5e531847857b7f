//! Finds project files by a few letters of their names. Reads the names once in the background and
//! keeps them in memory.

mod walk;
mod index;

pub use index::FileIndex;
pub(crate) use walk::{Found, walk};
