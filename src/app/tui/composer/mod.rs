//! The prompt editor.
//!
//! [`Composer`] has text with placeholders for long pastes, caret, undo, kill ring, soft wrap and
//! prompt history. It is plain data: actions in, `ComposerLayout` out, no terminal, no clock and no
//! file. Only `HistoryFile` and `DraftFile` do IO, and only effects call them.

mod editor;
mod messages;
mod draft;
mod motion;
mod placeholders;
mod undo;
mod kill_ring;
mod layout;
mod rows;
mod wrap;
mod history;
mod browse;
mod vim;
mod history_file;
mod draft_file;

pub(crate) use draft_file::DraftFile;
pub use draft_file::SavedDraft;
pub use editor::Composer;
pub use history::{History, Narrowing};
pub(crate) use history_file::HistoryFile;
pub(crate) use layout::ComposerLayout;
pub use layout::SpanKind;
pub use vim::{VimKey, VimMode, is_search};
