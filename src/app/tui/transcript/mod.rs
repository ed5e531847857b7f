//! The conversation as the screen holds it: cells, how far they are folded, where the user looks.
//! Plain data and pure functions; `view::transcript` lays it out and paints it.

mod cell;
mod cells;
mod viewport;
mod state;
mod apply;
mod calls;
mod draft;
mod notices;
mod rebuild;

pub use cell::{Cell, CellBody, CellClass, Fold, ThinkingState, ToolCell, ToolState};
pub use state::Transcript;
pub use viewport::{Anchor, Drawn, Position, RowRef, ScrollBy, Viewport};
