//! Sessions as users meet them: what is opened and why it cannot be, how they are found, listed, called
//! and put away. What a session is knows the agent.

mod choice;
mod find;
mod title;
mod rows;
mod recent;
mod search;
mod facts;
mod manage;

pub use choice::{Choice, LOOK_AGAIN, Opened, Refusal, Refused};
pub use facts::SessionFacts;
pub use find::{find, short_id};
pub use manage::{remove, rename};
pub use recent::{Recent, recent};
pub use rows::{SessionRow, SessionScope, rows, states};
pub use search::{search_rows, search_text};
pub use title::title_of;
