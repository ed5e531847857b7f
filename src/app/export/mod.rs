//! A session for other people and programs: as one HTML page, as Markdown, and as the lines of its
//! file. Every text goes through the redactor first. Prints nothing and writes no file.

mod transcript;
mod lines;
mod escape;
mod content;
mod tool;
mod page;
mod markdown;

pub use lines::jsonl;
pub use markdown::markdown;
pub use page::page;
pub use transcript::{Transcript, problems};
