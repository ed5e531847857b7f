//! The `read` tool (`tool`): pages of text files (`page`, `utf16`) and pictures (`pictures`).

mod tool;
mod page;
mod utf16;
mod pictures;

pub use tool::Read;
