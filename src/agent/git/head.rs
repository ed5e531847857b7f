//! Finds what a repository has checked out without running git, which could start a program.

use std::fmt;
use std::path::Path;

use super::folders::{git_folders, read_small};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitHead {
    Branch(String),
    /// A detached commit; the start of its id.
    Commit(String),
}

impl fmt::Display for GitHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) | Self::Commit(name) => f.write_str(name),
        }
    }
}

/// The repository around `folder`: the nearest folder with `.git`.
pub(crate) fn repository(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

/// The project around `folder`: its repository, or else itself.
pub fn project_root(folder: &Path) -> &Path {
    repository(folder).unwrap_or(folder)
}

/// The checked-out branch or commit of the repository around `folder`.
pub fn git_head(folder: &Path) -> Option<GitHead> {
    let git = git_folders(repository(folder)?)?;
    let head = read_small(&git.own.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            let name = name.strip_prefix("refs/heads/").unwrap_or(name);
            // A file damaged by a crash contains NULs, and with the reftable format HEAD names no
            // branch. No valid branch is called that.
            let is_name = !name.starts_with('.') && !name.contains(char::is_control);
            is_name.then(|| GitHead::Branch(name.to_owned()))
        }
        None => {
            let commit = head.get(..7)?;
            let is_commit = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_commit.then(|| GitHead::Commit(commit.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_out_is_read_without_git() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let git = root.path().join(".git");
        std::fs::create_dir_all(git.join("worktrees/w")).unwrap();
        let branch = |name: &str| Some(GitHead::Branch(name.to_owned()));
        for (head, wanted) in [
            ("ref: refs/heads/main\n", branch("main")),
            ("ref: refs/heads/feature/x\n", branch("feature/x")),
            ("ref: refs/heads/.invalid\n", None),
            (
                "0123456789abcdef0123456789abcdef01234567\n",
                Some(GitHead::Commit("0123456".to_owned())),
            ),
            ("", None),
            ("ref: refs/heads/a\0b\n", None),
            ("\0\0\0\0\0\0\0\0\0\0", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(git_head(&inner), wanted, "{head:?}");
        }
        std::fs::write(git.join("worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
        std::fs::write(inner.join(".git"), "gitdir: ../../.git/worktrees/w\n").unwrap();
        assert_eq!(git_head(&inner), branch("side"));
    }
}
