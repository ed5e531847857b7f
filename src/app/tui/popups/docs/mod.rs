//! A page of the documentation to read.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::drawn;
pub use state::{DocsPage, PageFind};
pub use view::DocsRows;
