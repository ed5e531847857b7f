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
mod pages;
mod rebuild;
mod reading;
mod sealing;

pub(crate) use cell::{Cell, CellBody, CompactionCell, ThinkingState, ToolCell, ToolState};
pub use cell::{CellClass, Fold};
pub(crate) use cells::Neighbor;
pub(crate) use pages::{Page, cell_at, page_of, place_of};
pub use reading::{LoadedPage, PageRequest};
pub use state::Transcript;
pub(crate) use viewport::{Anchor, RowRef};
pub use viewport::{Drawn, Position, ScrollBy};
