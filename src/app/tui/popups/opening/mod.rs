//! The question about a session that couldn't be opened.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{ask, ask_to_write, stop_waiting};
pub(crate) use state::Opening;
