//! What lies over the screen: a closed set, on a stack.

mod kinds;
mod picker;
mod help;
mod models;
mod sessions;

pub use help::{HelpLine, help_lines};
pub use kinds::Overlay;
pub use models::{ModelPicker, ModelsState, same};
pub use picker::{Pager, Picker};
pub use sessions::SessionPicker;
