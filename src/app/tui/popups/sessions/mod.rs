//! The list of stored sessions.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{
    found, listed, look, open, previewed, refresh, removed, renamed, states, tick,
};
pub(crate) use state::SessionPicker;
pub use state::TextSearch;
