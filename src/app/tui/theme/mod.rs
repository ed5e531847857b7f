//! Colors. A [`Theme`] is one `Style` per slot of the screen, read from TOML and brought down to
//! what the terminal can show. The only place that names a color by its red, green and blue.

mod color;
mod load;
mod slots;

pub use color::ColorDepth;
pub use load::ThemeError;
pub(crate) use slots::SyntaxRule;
pub use slots::Theme;
