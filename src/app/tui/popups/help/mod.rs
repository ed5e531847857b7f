//! The help: all keys, commands and pages.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::open;
pub use state::{HelpEntry, HelpList, HelpRow, help_rows};
