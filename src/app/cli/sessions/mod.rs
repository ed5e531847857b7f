//! `tiller sessions` and `tiller status`: list, show and change sessions.

mod diff;
mod entry_text;
mod export;
mod import;
mod line;
mod list;
mod place;
mod remove;
mod run;
mod search;
mod show;
mod status;

pub use place::SessionsPlace;
pub use run::sessions;
pub use status::status;
