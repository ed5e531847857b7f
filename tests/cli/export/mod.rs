//! Exported sessions: the command, the page and the Markdown.

mod sessions;
mod page;
mod browser;
mod command;
