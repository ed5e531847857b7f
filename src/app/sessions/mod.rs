//! Sessions as users meet them: what is opened and why it cannot be, how they are found, listed and
//! called. What a session is knows the agent.

mod choice;
mod find;
mod rows;
mod title;

pub use choice::{Choice, Opened, Refusal, Refused};
pub use find::{find, short_id};
pub use rows::{SessionRow, SessionScope, rows};
pub use title::title_of;
