//! Pictures in the conversation: their heads, their sizes, and showing them on each kind of
//! terminal. A thread decodes and scales them; only scaled pictures stay in memory.
//!
//! A picture on the screen is made of cells like everything else, so frames with pictures cost no
//! more. Half blocks use cells as pixels. kitty and ghostty get the picture once, and each cell has
//! a mark (`mark`): which picture, row and column. Protocols that draw pixels at the cursor (sixel,
//! iTerm2's) are left out on purpose: every scroll step would send the picture again.

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
