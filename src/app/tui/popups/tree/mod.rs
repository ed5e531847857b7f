//! The tree of the session.

mod state;
mod rows;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{open, read};
pub(crate) use state::{TreePicker, TreePurpose};
