//! The built-in tools, in folders by purpose: `read`, `edit` (edit, replace, write), `patch`
//! (apply_patch), `search` (grep, find, ls), `ask` (ask_user), `todo`, `web` (web_fetch). `own` has those of the user. Shared parts are here: `open`,
//! `kind`, `escape`, `call`, `typed` (arguments, parsed once).

mod builtin;
mod settings;
mod read;
mod bash;
mod edit;
mod patch;
mod search;
mod ask;
mod todo;
mod open;
pub(super) mod kind;
mod escape;
mod call;
mod typed;
pub mod own;
mod web;

pub use bash::Output as CommandOutput;
pub use builtin::builtin;
pub(super) use edit::diff;
pub use patch::{Marker, marker};
pub use read::{MAX_PICTURE_FILE, image_of};
pub(super) use search::{Budget, IgnoreLoader, Limits, Queue, Rules};
pub use settings::ToolSettings;
pub use web::WEB_FETCH;
