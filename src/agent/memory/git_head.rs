//! Finds what a repository has checked out without running git, which could start a program.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::environment::repository;

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

/// The checked-out branch or commit of the repository around `folder`.
pub fn git_head(folder: &Path) -> Option<GitHead> {
    let git = repository(folder)?.join(".git");
    let git = if git.is_dir() {
        git
    } else {
        // A worktree or submodule has a file that points to the git folder.
        let text = read_short(&git)?;
        let target = text.strip_prefix("gitdir:")?.trim();
        git.parent()?.join(target)
    };
    let head = read_short(&git.join("HEAD"))?;
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

/// The beginning of a small file; `None` if it isn't a regular file (opening a FIFO would block).
fn read_short(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(4096).read_to_string(&mut text).ok()?;
    Some(text)
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
