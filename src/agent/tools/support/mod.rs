//! What the tools that look and the tools that run share: kinds of files, pictures, pages, walks
//! through folders, cleaning of output, and limits on what goes to the model.

pub mod kind;
pub mod utf16;
pub mod pictures;
pub mod page;
pub mod sanitize;
pub mod limits;
pub mod glob;
pub mod walk;
pub mod hits;
