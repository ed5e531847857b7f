//! Text on its way to the screen: measured, wrapped, marked up, coloured. Nothing
//! here knows what a transcript is.

pub mod width;
pub mod row;
pub mod wrap;
pub mod highlight;
pub mod code;
pub mod markdown;
pub mod diff;

pub use code::CodeStore;
pub use highlight::HighlightWorker;
pub use row::{Line, Row, Run, lines};
pub use width::width;
pub use wrap::{Break, Prefix, wrap};
