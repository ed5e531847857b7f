//! Colors. A [`Theme`] is one `Style` per slot of the screen, read from TOML and brought down to
//! what the terminal can show. The only place that names a color by its red, green and blue.

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

pub(crate) use choice::{AUTO, ThemeChoice};
pub use color::ColorDepth;
pub use library::Themes;
pub(crate) use slots::SyntaxRule;
pub use slots::Theme;
pub use source::Kind;
pub(crate) use system::TerminalColors;
pub(crate) use todo_mark::todo_mark;
