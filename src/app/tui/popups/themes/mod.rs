//! The list of themes.

mod state;
mod keys;
mod view;

pub(crate) use state::ThemePicker;
