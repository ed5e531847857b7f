//! What lies over the screen: a closed set, on a stack.

mod kinds;
mod picker;
mod help;
mod iterations;
mod models;
mod themes;
mod login;
mod settings;
mod sessions;
mod opening;
mod tree;
mod tree_rows;
mod undo;
mod confirm;
mod copy;
mod history;
mod search;
mod selecting;

pub use confirm::{Confirm, ConfirmAbout, FullFor};
pub use copy::{CopyItem, CopyKind, CopyPicker};
pub use help::{FIRST_KEYS, HelpLine, HelpPage, help_lines};
pub use history::HistoryPicker;
pub use iterations::{IterationPicker, OpenedIteration};
pub use kinds::Overlay;
pub use login::Login;
pub use models::{ModelPicker, ModelsState, same};
pub use opening::{Opening, Way};
pub use picker::{Pager, Picker};
pub use search::SearchBar;
pub use selecting::SelectMode;
pub use sessions::{Due, Preview, SessionMode, SessionPicker, TextSearch};
pub use settings::{SettingOverride, SettingRow, SettingsPicker};
pub use themes::{ThemePicker, ThemeRow};
pub use tree::{ComparisonView, TreePicker, TreePurpose};
pub use tree_rows::{TreeRow, TreeRows};
pub use undo::{ChosenPoint, RewindPicker, UndoQuestion, WAYS};
