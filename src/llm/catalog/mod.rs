//! The catalog: which models exist, the facts about each, and what the user means by a name.
//!
//! Knows no API and sends nothing.

mod models;
mod snapshot;
mod naming;
pub mod pattern;
mod family;
mod file;
mod builtin;
mod fetched;

pub use builtin::BuiltIn;
pub use fetched::fetched;
pub use models::Catalog;
pub use naming::Named;
pub use snapshot::{CatalogOptions, Snapshot};
