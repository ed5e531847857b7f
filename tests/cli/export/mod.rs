//! Exported sessions.

mod sessions;
mod page;
mod browser;
mod command;
