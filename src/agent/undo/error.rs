//! Why something can't be undone, with a suggestion.

use std::io;
use std::path::{Path, PathBuf};

/// Why a change can't be covered or undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// A file or folder is unreadable or unwritable.
    #[error("{what} {}: {error}", .path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The undo data is damaged.
    #[error("{} is damaged ({what}), so tiller can't undo those changes", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What's wrong.
        what: String,
    },
    /// The turn doesn't exist, or is in the wrong state.
    #[error("{0}")]
    Refused(String),
}

impl UndoError {
    /// For `map_err`: names the operation on `path`.
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { what, path, error }
    }
}
