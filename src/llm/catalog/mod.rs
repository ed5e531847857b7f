//! Which models there are, what is known of each, and what a person means by a name.
//!
//! Knows no wire and sends nothing.

mod models;
mod live;
mod listing;
mod naming;
pub mod pattern;
mod family;
mod file;
mod check;
mod builtin;

pub use check::nearest;
pub use models::{Catalog, CatalogError, CatalogOptions, Listed};
