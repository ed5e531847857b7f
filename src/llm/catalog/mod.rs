//! Which models there are, what is known of each, and what a person means by a name.
//!
//! Knows no wire and sends nothing.

mod models;
mod file;
mod builtin;
pub mod pattern;

pub use models::{Catalog, CatalogError};
