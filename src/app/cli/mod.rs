//! Front ends that print: print mode, JSON mode, the demo as plain text, sub-commands. The only
//! place besides the terminal that writes to stdout.

mod out;
mod once;
mod print;
mod json;
mod play;
mod config;
mod hidden;
mod auth;
mod sessions;
mod models;

pub use self::print::{Print, Reader};
pub use auth::AuthDesk;
pub use config::config;
pub use json::Json;
pub use models::models;
pub use once::{OnceOptions, Sink, run_once};
pub use out::{complain, complain_of_panics, print, write_failed};
pub use play::Play;
pub use sessions::{sessions, status};
