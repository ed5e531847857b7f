//! The list of settings.

mod state;
mod keys;
mod view;

pub(in crate::app::tui) use keys::{open, read, write};
pub(crate) use state::SettingsPicker;
pub use state::{SettingOverride, SettingRow, without_place};
