//! The built-in tools, one file each, in the order the model sees them.

mod builtin;
mod read;
mod bash;
mod edit;
mod apply_patch;
mod write;
mod grep;
mod find;
mod ls;
mod patch;
pub(super) mod support;

pub use builtin::builtin;
