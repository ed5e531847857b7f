//! Which models there are, what is known of each, and what the user means by a name.
//!
//! Knows no API and sends nothing.

mod error;
mod models;
mod reloading;
mod snapshot;
mod naming;
pub mod pattern;
mod family;
mod file;
mod builtin;

pub use builtin::BuiltIn;
pub use error::CatalogError;
pub use models::{Catalog, CatalogEntry, CatalogOptions};
