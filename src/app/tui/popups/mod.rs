//! Popups over the screen: a closed set, on a stack. Each has a folder with its state, its keys and its
//! drawing, or a file if it's small, and a line in the list in `kinds`.

mod kinds;
mod popup;
mod list;
mod picker;
mod session_facts;
mod call;
pub(super) mod status;
pub(super) mod help;
pub(super) mod docs;
pub(super) mod settings;
pub(super) mod login;
mod confirm;
pub(super) mod undo;
pub(super) mod history;
pub(super) mod search;
pub(super) mod selecting;
mod copy;
mod models;
mod themes;
pub(super) mod tree;
pub(super) mod sessions;
pub(super) mod opening;

pub(crate) use call::CallPage;
pub(crate) use confirm::{Confirm, ConfirmAbout, FullFor};
pub(crate) use copy::{CopyItem, CopyKind, CopyPicker};
pub use docs::{DocsPage, DocsRows, PageFind};
pub use help::{HelpEntry, HelpList, HelpRow, help_rows};
pub use kinds::Overlay;
pub(crate) use kinds::{PopupKeys, PopupView, topmost};
pub(crate) use models::same;
pub use models::{ModelPicker, ModelsState};
pub(crate) use picker::{PAGE, Pager, Picker};
pub(crate) use popup::{Popup, PopupDrawn, list_top, on_row, row_style, split};
pub use sessions::TextSearch;
pub use settings::{SettingOverride, SettingRow, without_place};
pub(crate) use status::StatusTab;
pub(crate) use themes::ThemePicker;
pub(crate) use tree::TreePurpose;
