//! Functions that change the [`App`](super::app::App), one file per owner of a message. They are
//! pure: no IO, no clock, no waiting. They return effects for everything to be done outside.

mod route;

pub(super) mod keys;
mod command;
mod queue;
mod mentions;
pub(super) mod stop;
pub(super) mod tree;
pub(super) mod editor;
mod dropped;
pub(super) mod completion;
mod shell;
pub(super) mod scroll;
mod mouse;
pub(super) mod copy;
mod open;
pub(super) mod refusal;
pub(super) mod models;
pub(super) mod themes;
pub(super) mod settings;
pub(super) mod sessions;
mod trials;
mod questions;
mod rule;
pub(super) mod permission;
mod plan;

mod agent;
mod pictures;
mod terminal;
mod vim;

pub(crate) use agent::reopened;
pub(crate) use pictures::follow as follow_pictures;
pub use route::update;
