//! Themes. A [`Theme`] has a `Style` per slot of the screen, read from TOML and reduced to the
//! terminal's colors. No other module names colors by their red, green and blue.

mod slots;
mod library;
mod load;
mod source;
mod system;
mod color;
mod indexed;
mod contrast;
mod choice;
mod todo_mark;
#[cfg(test)]
mod tests;

pub use crate::app::color_depth::ColorDepth;
pub(crate) use choice::{AUTO, ThemeChoice};
pub use library::Themes;
pub(crate) use slots::SyntaxRule;
pub use slots::Theme;
pub use source::Kind;
pub(crate) use system::TerminalColors;
pub(crate) use todo_mark::todo_mark;
