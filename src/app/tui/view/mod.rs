//! Draws the `App` into a buffer of cells. Nothing here changes the next frame.

mod screen;
mod inline;

pub mod transcript;
mod queue;
pub(super) mod rail;
pub(super) mod question;
mod call_body;
mod activity;
mod editor;
mod completion;
mod status;
mod todo;

mod welcome;
pub(super) mod answers;
pub(super) mod bordered;

pub(super) mod line;

pub(crate) use inline::{LivePlan, divider};
pub(crate) use screen::ScreenDrawn;
pub use screen::{ViewCache, view};
