//! The editor the prompt is written in.
//!
//! [`Composer`] is the whole of it: text with atomic paste blocks, caret, undo, kill ring, soft
//! wrap and the way through earlier prompts. It is plain data: [`EditCommand`] in,
//! [`ComposerLayout`] out, no terminal and no file. [`HistoryFile`] is the only part that does IO.

mod command;

mod editor;

mod history;

mod history_file;

mod layout;

pub use command::EditCommand;
pub use editor::Composer;
pub use history::History;
pub use history_file::HistoryFile;
pub use layout::{ComposerLayout, Row, Span, SpanKind};
