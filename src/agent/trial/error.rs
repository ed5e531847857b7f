//! Why a trial cannot begin or be kept, each with the way out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Most files that a text names.
const NAMED: usize = 10;

/// Why a trial cannot begin, be kept or be removed.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is no git program.
    #[error(
        "a trial needs git, which isn't in PATH. Install git, or use /fork, which branches only the \
         conversation and changes files in place"
    )]
    NoGit,
    /// The folder is in no working tree of a repository.
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
    /// There is nothing checked out that a worktree could begin with.
    #[error(
        "the repository {} has no commit yet, and a trial needs one. Make one, for example: git commit \
         --allow-empty -m Begin", .0.display()
    )]
    NoCommit(PathBuf),
    /// The copy does not fit on the disk.
    #[error(
        "the files need {needed} bytes, and {} has {free} free. Free space, add large files to \
         .gitignore, or set TILLER_DATA_DIR to another disk", .folder.display()
    )]
    NoRoom {
        /// Bytes of all files.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Where the copy would be.
        folder: PathBuf,
    },
    /// Git refused.
    #[error("git {command} failed: {text}")]
    Git {
        /// Its first words.
        command: String,
        /// What it said.
        text: String,
    },
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
    /// A fault of the program.
    #[error("internal error: {0}")]
    Internal(String),
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
    /// The user's files and those of the trial were both changed, so nothing was written.
    #[error("{}", obstacles(.0))]
    Conflicts(Vec<Obstacle>),
    /// What is kept of the trial is damaged.
    #[error("the trial's data in {} is damaged: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// A file that stands in the way of keeping a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Below the root of the repository.
    pub path: PathBuf,
    /// Why.
    pub why: &'static str,
}

impl TrialError {
    /// For `map_err`: what was done to `path`.
    pub(in crate::agent) fn io(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { what, path, error }
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
