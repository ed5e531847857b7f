//! The conversation on the screen: its cells, their folding, the scroll position. Plain data and
//! pure functions; `view::transcript` lays it out and paints it.

mod cell;
mod cell_text;
mod cells;
mod viewport;
mod selection;
mod selecting;
mod copy;
mod search;
mod searching;
mod state;
mod apply;
mod calls;
mod looking;
mod headings;
mod turn;
mod draft;
mod notices;
mod pictures;
mod pages;
mod rebuild;
mod reading;
mod sealing;
mod settled;

pub(crate) use cell::{Cell, CellBody, CompactionCell, ThinkingState, ToolCell, ToolState};
pub use cell::{CellClass, Fold, PROMPT_LINES};
pub(crate) use cells::Neighbor;
pub(crate) use copy::CopySource;
pub(crate) use headings::headings;
pub(crate) use looking::LookGroup;
pub(crate) use pages::{Page, cell_at, page_of, place_of};
pub(crate) use reading::{LoadedPage, PageRequest};
pub use search::PageSearch;
pub(crate) use search::{PagesSearched, Pattern, Search};
pub(crate) use selection::{Caret, Copied, Motion, Place, Pointing, Selection, Spot};
pub use selection::{Stretch, Unit};
pub use state::Transcript;
pub(crate) use viewport::Anchor;
pub use viewport::{Drawn, Position, Printing, RowRef, ScrollBy};
