//! Exports a session for other people and programs: as an HTML page, as Markdown, or as its JSON
//! lines. Every text goes through the redactor first. Prints nothing.

mod format;
mod redact;
mod transcript;
mod lines;
mod escape;
mod highlight;
mod picture;
mod content;
mod diff;
mod subject;
mod tool;
mod notice;
mod contents;
mod entry;
mod page;
mod markdown;
mod exported;
mod write;
mod on_request;

pub use exported::Export;
pub use format::{Format, Scope};
pub(crate) use on_request::{default_folder, export_html, export_on_request};
pub(crate) use transcript::problems;
pub(crate) use write::{IfExists, same_file, write_file, write_new};
