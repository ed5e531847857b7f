//! Sessions as users see them: opening, finding, listing, renaming and removing. `agent::session`
//! defines what a session is.

mod choice;
mod find;
mod title;
mod rows;
mod recent;
mod search;
mod facts;
mod manage;

pub use choice::{Choice, Refusal, Refused};
pub(crate) use choice::{LOOK_AGAIN, Opened};
pub use facts::SessionFacts;
pub(crate) use find::{find, is_id_or_file, short_id};
pub(crate) use manage::{remove, rename};
pub use recent::Recent;
pub(crate) use recent::recent;
pub use rows::{SessionRow, SessionScope};
pub(crate) use rows::{rows, states};
pub(crate) use search::{search_rows, search_text};
pub(crate) use title::title_of;
