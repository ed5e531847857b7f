//! The session list, and switching to another session.

mod route;
mod command;
mod open;

pub use command::act;
pub use open::{arriving, follow, give_up, go_on_with_recent, open, take_text_along};
pub use route::done;
