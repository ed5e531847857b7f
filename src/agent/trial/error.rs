//! Why a trial can't begin or be kept, and what the user can do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::GitError;

/// Most files named in a text.
const NAMED: usize = 10;

/// Why a trial can't begin, be kept or be removed.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is no git program.
    #[error(
        "a trial needs git, which isn't in PATH. Install git, or use /fork, which branches only the \
         conversation and changes files in place"
    )]
    NoGit,
    /// The folder isn't in a repository's working tree.
    #[error(
        "{} isn't in a git repository. Run `git init` and make a first commit, or use /fork, which \
         branches only the conversation and changes files in place", .0.display()
    )]
    NoRepository(PathBuf),
    /// The repository has no working tree here.
    #[error(
        "{} isn't in a working tree (it is in a bare repository or a .git folder). Start tiller in a \
         working tree", .0.display()
    )]
    NoWorkTree(PathBuf),
    /// Nothing is checked out that a worktree could begin with.
    #[error(
        "the repository {} has no commit yet, and a trial needs one. Make one, for example: git commit \
         --allow-empty -m Begin", .0.display()
    )]
    NoCommit(PathBuf),
    /// The copy doesn't fit on the disk.
    #[error(
        "the files need {needed} bytes, and {} has {free} free. Free space, add large files to \
         .gitignore, or set TILLER_DATA_DIR to another disk", .folder.display()
    )]
    NoRoom {
        /// Size of all files, in bytes.
        needed: u64,
        /// Free space, in bytes.
        free: u64,
        /// Where the copy would be.
        folder: PathBuf,
    },
    /// Git failed.
    #[error(transparent)]
    Git(GitError),
    /// A file or folder can't be read or written.
    #[error("{what} {}: {error}", .path.display())]
    Io {
        /// The failed operation.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A bug in tiller.
    #[error("internal error: {0}")]
    Internal(String),
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
    /// Both the user and the trial changed these files, so nothing was written.
    #[error("{}", obstacles(.0))]
    Conflicts(Vec<Obstacle>),
    /// The trial's stored data is damaged.
    #[error("the trial's data in {} is damaged: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// A file that prevents keeping a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The path below the repository's root.
    pub path: PathBuf,
    /// The reason.
    pub why: &'static str,
}

impl TrialError {
    /// For `map_err`: builds the error of an operation on `path`.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { what, path, error }
    }
}

impl From<GitError> for TrialError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Missing => Self::NoGit,
            error => Self::Git(error),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.to_string_lossy();
        let name = name.replace(char::is_control, "\u{fffd}");
        write!(out, "{name}: {}", self.why)
    }
}

fn obstacles(all: &[Obstacle]) -> String {
    let lines: Vec<String> = (all.iter().take(NAMED))
        .map(|obstacle| format!("  {obstacle}"))
        .collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    let files = match all.len() {
        1 => String::from("1 file is"),
        many => format!("{many} files are"),
    };
    format!(
        "{files} in the way, so nothing was written:\n{}{more}",
        lines.join("\n")
    )
}
