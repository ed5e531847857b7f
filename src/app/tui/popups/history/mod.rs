//! The search through earlier prompts.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{loaded, open};
pub(crate) use state::HistoryPicker;
