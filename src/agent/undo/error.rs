//! Why something cannot be undone, each with the way out.

use std::io;
use std::path::{Path, PathBuf};

/// Why a change cannot be covered or undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// A file or folder cannot be read or written.
    #[error("{what} {}: {error}", .path.display())]
    Io {
        /// What was done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// What is kept is damaged.
    #[error("{} is damaged ({what}), so tiller can't undo those changes", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The turn is not there, or not in the state for it.
    #[error("{0}")]
    Refused(String),
}

impl UndoError {
    /// For `map_err`: what was done to `path`.
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { what, path, error }
    }
}
