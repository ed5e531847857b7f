//! Text on its way to the screen: made harmless, measured, wrapped, marked up, coloured. Nothing
//! here knows what a transcript is.

pub mod sanitize;
pub mod width;
pub mod highlight;

pub use highlight::HighlightWorker;
pub use sanitize::visible;
pub use width::width;
