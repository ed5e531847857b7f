//! Draws the `App` into a buffer of cells. Nothing here changes the next frame.

mod screen;
mod inline;

pub mod transcript;
mod queue;
mod rail;
mod question;
mod call_body;
mod activity;
mod editor;
mod completion;
mod status;
mod todo;

mod welcome;
mod answers;
mod bordered;
mod popup;
mod overlay;
mod help;
mod docs;
mod history;
mod calls;
mod context;
mod tree;
mod undo;
mod copy;
mod search;
mod selecting;
mod models;
mod themes;
mod login;
mod settings;
mod stats;
mod model_details;
mod sessions;
mod session_facts;
mod opening;

mod line;

pub use docs::DocsRows;
pub(crate) use inline::{LivePlan, divider};
pub(crate) use screen::ScreenDrawn;
pub use screen::{ViewCache, view};
