//! Adding an API key.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{open, read, refuse, stored};
pub(crate) use state::Login;
