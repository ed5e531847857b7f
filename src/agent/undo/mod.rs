//! Records what turns change in the user's files, and undoes it. Before a write, and before the
//! first command of a turn, it covers everything that could change. For files that git has
//! unchanged, it records their blob ids; others are copied to a folder outside the repository. Only
//! reads the user's git.

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
mod store;
mod state;
mod error;

pub use apply::{Kept, Outcome};
pub use command::{Rewind, RewindPoint, UndoCommand};
pub use error::UndoError;
pub use handle::{Covered, Undo};
pub use history::Direction;
pub use preview::{FilePreview, Preview};
