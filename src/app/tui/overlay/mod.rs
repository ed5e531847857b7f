//! Overlays over the screen: a closed set, on a stack.

mod kinds;
mod picker;
mod help;
mod models;
mod themes;
mod login;
mod settings;
mod status;
mod sessions;
mod opening;
mod tree;
mod tree_rows;
mod undo;
mod confirm;
mod copy;
mod history;

pub(crate) use confirm::{Confirm, ConfirmAbout, FullFor};
pub(crate) use copy::{CopyItem, CopyKind, CopyPicker};
pub use help::{HelpEntry, HelpList, HelpRow, help_rows};
pub(crate) use history::HistoryPicker;
pub use kinds::Overlay;
pub(crate) use login::Login;
pub(crate) use models::same;
pub use models::{ModelPicker, ModelsState};
pub(crate) use opening::{Opening, Way};
pub(crate) use picker::{Pager, Picker};
pub use sessions::TextSearch;
pub(crate) use sessions::{Preview, SessionMode, SessionPicker};
pub(crate) use settings::SettingsPicker;
pub use settings::{SettingOverride, SettingRow, without_place};
pub(crate) use status::{StatusPopup, StatusTab};
pub(crate) use themes::{ThemePicker, ThemeRow};
pub(crate) use tree::{TreePicker, TreePurpose};
pub(crate) use tree_rows::TreeRow;
pub(crate) use undo::{ChosenPoint, RewindPicker, UndoQuestion, WAYS};
