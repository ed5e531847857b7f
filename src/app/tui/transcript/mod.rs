//! The conversation as the screen holds it: cells, how far they are folded, where the person
//! looks. Plain data and pure functions; `view::transcript` lays it out and paints it.

mod cell;
mod position;
mod state;
mod apply;
mod notices;
mod rebuild;
mod draft;

pub use cell::{Cell, CellBody, CellClass, Fold, ThinkingState, ToolCell, ToolState};
pub use position::{Anchor, Drawn, Hit, Position, ScrollBy};
pub use state::Transcript;
