//! Functions that change the [`App`](super::app::App), one file per owner of a message. They are
//! pure: no IO, no clock, no waiting. They return effects for everything to be done outside.

mod route;

mod keys;
mod command;
mod queue;
mod mentions;
mod stop;
mod tree;
mod editor;
mod dropped;
mod completion;
mod shell;
mod scroll;
mod mouse;
mod copy;
mod open;
mod search;
mod selecting;
mod overlay;
mod list;
mod refusal;
mod status;
mod models;
mod themes;
mod settings;
mod help;
mod docs;
mod login;
mod sessions;
mod trials;
mod undo;
mod questions;
mod rule;
mod permission;
mod plan;

mod agent;
mod pictures;
mod terminal;
mod vim;

pub(crate) use agent::reopened;
pub(crate) use pictures::follow as follow_pictures;
pub use route::update;
