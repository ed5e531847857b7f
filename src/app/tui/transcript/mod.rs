//! The conversation as the screen holds it: cells, how far they are folded, where the person
//! looks. Plain data and pure functions; drawing is `view::transcript`, and what drawing remembers
//! between frames is [`TranscriptCache`], which can be thrown away at any time.

mod cell;
mod position;
mod state;
mod apply;
mod notices;
mod rebuild;
mod rows;
mod heights;
mod cache;
mod draw;

pub use cache::TranscriptCache;
pub use cell::{Cell, CellBody, CellClass, Fold, ThinkingState, ToolCell, ToolState};
pub use position::{Anchor, Drawn, Hit, Position, ScrollBy};
pub use state::Transcript;
