//! Pictures among the text of the conversation: what their heads say, how large they are shown, and how
//! each kind of terminal is given them. Decoding and scaling are a thread's; what is kept is scaled.
//!
//! A picture on the screen is cells like all else. As half blocks they are its pixels; else each bears
//! a mark (`mark`): which picture, which row, which column of it. Kitty and ghostty show the picture where
//! such cells stand; for all others the difference between two frames says which of them are to be
//! drawn (`strips`).

mod head;
mod source;
pub mod layout;
pub mod terminal;
mod scale;
mod worker;
mod cache;
mod paint;
mod pixel;
mod placed;
mod mark;
mod kitty;
mod iterm2;
mod sixel;
mod strips;

pub use cache::PictureCache;
pub use layout::{PictureLayout, Protocol};
pub use placed::PlacedPicture;
pub(crate) use source::{Picture, captions, pictures};
pub(super) use strips::{is_marked, split_row};
pub use terminal::TerminalGraphics;
pub use worker::Wake;
