//! Keys: what they are, where they come from, and how they are kept out of sight.
//!
//! A key is looked for in one order (`place`), fetched only when its provider is about to be used
//! (`keys`), and struck out of everything that is shown or stored (`redact`).

mod secret;
mod redact;
mod source;
mod store;
mod keys;
mod place;

pub use keys::{KeyCommands, KeyFiles, Keys};
pub use place::{Owner, Place};
pub use redact::Redactor;
pub use secret::Secret;
pub use source::KeySource;
pub use store::Store;
