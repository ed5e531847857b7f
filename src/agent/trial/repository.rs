//! Finds the repository of a folder, and checks that it can have a trial.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::TrialError;
use crate::git::{Git, GitError};

/// The working tree around a folder.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    pub root: PathBuf,
    /// Its own git folder, with index and HEAD.
    pub git_dir: PathBuf,
    /// The git folder shared by all its worktrees, with objects and refs.
    pub common_dir: PathBuf,
    /// The folder within the working tree.
    pub cwd: PathBuf,
    pub head: String,
}

impl Repository {
    /// Returns the repository around `cwd` if it can have a trial.
    pub fn around(cwd: &Path) -> Result<Self, TrialError> {
        let cwd = fs::canonicalize(cwd).map_err(TrialError::io("can't find", cwd))?;
        let git = Git::within(&cwd);
        let git_dir =
            git.path(&["rev-parse", "--absolute-git-dir"])
                .map_err(|error| match error {
                    GitError::Refused { text, .. } if text.contains("not a git repository") => {
                        TrialError::NoRepository(cwd.clone())
                    }
                    other => other.into(),
                })?;
        if git.run(&["rev-parse", "--is-inside-work-tree"])? != b"true\n" {
            return Err(TrialError::NoWorkTree(cwd));
        }
        let root = git.path(&["rev-parse", "--show-toplevel"])?;
        if !cwd.starts_with(&root) {
            return Err(TrialError::NoWorkTree(cwd));
        }
        let common_dir = git.path(&["rev-parse", "--git-common-dir"])?;
        let head = git.path(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
        let head = head.map_err(|error| match error {
            GitError::Refused { text, .. } if text.is_empty() => TrialError::NoCommit(root.clone()),
            other => other.into(),
        })?;
        Ok(Self {
            common_dir: fs::canonicalize(cwd.join(&common_dir))
                .map_err(TrialError::io("can't find", &common_dir))?,
            head: head.to_string_lossy().into_owned(),
            git_dir,
            cwd,
            root,
        })
    }

    /// Adds a worktree without files at `tree`, with the user's index: staged changes stay staged there.
    pub fn add_worktree(&self, tree: &Path, scratch: &Path) -> Result<(), TrialError> {
        let git = Git::within(&self.root).without_hooks()?;
        let add = ["worktree", "add", "--detach", "--no-checkout", "--quiet"];
        let mut arguments: Vec<&std::ffi::OsStr> = add.iter().map(AsRef::as_ref).collect();
        arguments.extend([tree.as_os_str(), self.head.as_ref()]);
        git.run(&arguments)?;
        let index = self.git_dir.join("index");
        if !index.exists() {
            return Ok(());
        }
        let copy = scratch.join("index");
        fs::copy(&index, &copy).map_err(TrialError::io("can't copy", &index))?;
        // An index may be split in two, or need a file system monitor. This makes the copy complete.
        let update = [
            "update-index",
            "--no-split-index",
            "--no-fsmonitor",
            "--no-untracked-cache",
        ];
        git.with("GIT_INDEX_FILE", &copy).run(&update)?;
        let own = Git::within(tree).path(&["rev-parse", "--absolute-git-dir"])?;
        let own = own.join("index");
        fs::rename(&copy, &own)
            .or_else(|_| fs::copy(&copy, &own).map(drop))
            .map_err(TrialError::io("can't write", &own))
    }
}
