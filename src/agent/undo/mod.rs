//! What turns change in the user's files, and the way back. Before a file is written, and before the
//! first command of a turn, everything that could change is covered: the files that git has byte by
//! byte by their name there, all others by a copy in a folder outside the repository. The user's git
//! is only read.

mod go;
mod handle;
mod command;
mod open_turn;
mod looks;
mod tree;
mod walk;
mod cover;
mod repository;
mod git_index;
mod compare;
mod look;
mod git_contents;
mod history;
mod preview;
mod apply;
mod record;
mod quota;
mod listing_file;
mod store;
mod state;
mod error;

pub use apply::{Kept, Outcome};
pub use command::{Rewind, RewindPoint, UndoCommand};
pub use error::UndoError;
pub use handle::{Covered, Undo};
pub use history::Direction;
pub use preview::{FilePreview, Preview};
