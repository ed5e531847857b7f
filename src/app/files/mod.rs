//! Finds project files by a few letters of their names, which it reads once in the background.

mod walk;
mod index;

pub use index::FileIndex;
pub(crate) use walk::{Found, walk};
