//! `/status`: cost, context window, session and model calls, a tab each.

mod state;
mod keys;
mod view;
mod stats;
mod context;
mod calls;

pub(in crate::app::tui) use keys::{open, read};
pub(crate) use state::{StatusPopup, StatusTab};
