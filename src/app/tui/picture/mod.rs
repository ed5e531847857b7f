//! Pictures among the text of the conversation: what their heads say, how large they are shown, and how
//! each kind of terminal is given them. Decoding and scaling are a thread's; what is kept is scaled.
//!
//! A picture on the screen is cells like all else, so a frame with pictures costs what other frames cost.
//! As half blocks the cells are its pixels. For kitty and ghostty, which get the picture once, each cell
//! has a mark (`mark`): which picture, which row, which column of it. Protocols that draw pixels at the
//! cursor (sixel, iTerm2's) are left out on purpose: each scroll step would send the picture again.

mod head;
mod source;
pub(crate) mod layout;
pub(crate) mod terminal;
mod scale;
mod worker;
mod cache;
mod paint;
mod placed;
mod mark;
mod kitty;

pub(crate) use cache::PictureCache;
pub use layout::{PictureLayout, Protocol};
pub(super) use mark::is_marked;
pub(crate) use placed::PlacedPicture;
pub(crate) use source::{Picture, captions, pictures};
pub(crate) use terminal::TerminalGraphics;
pub(crate) use worker::Wake;
