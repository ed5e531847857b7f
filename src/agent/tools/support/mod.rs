//! What the tools that look share: kinds of files, pictures, pages, walks through folders, and
//! limits on what goes to the model.

pub mod kind;
pub mod utf16;
pub mod pictures;
pub mod page;
pub mod limits;
pub mod glob;
pub mod walk;
pub mod hits;
