//! The session list, and switching to another session.

mod route;
mod command;
mod list;
mod open;

pub use command::act;
pub use list::{choose, look, press, tick};
pub use open::{
    ask, ask_to_write, give_up, go_on_with_recent, press as press_opening, stop_waiting,
    take_text_along,
};
pub use route::done;
