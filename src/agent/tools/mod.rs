//! The built-in tools, one file each, in the order the model sees them.

mod builtin;
mod read;
mod bash;
mod edit;
mod apply_patch;
mod replace;
mod write;
mod grep;
mod find;
mod ls;
mod patch;
pub mod draft;
pub(super) mod support;

pub use builtin::builtin;
