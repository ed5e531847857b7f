//! What lies over the screen: a closed set, on a stack.

mod help;
mod kinds;
mod picker;

pub use help::{HelpLine, help_lines};
pub use kinds::{HistorySearch, Overlay, Scroll};
pub use picker::{ModelPicker, Shelf, same};
