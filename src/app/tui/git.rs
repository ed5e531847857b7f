//! What the status line tells of the repository.

use std::io::Read;
use std::path::Path;

/// The branch checked out in the repository around `folder`, without starting git: its name, or
/// the beginning of the commit when there is none.
pub(super) fn branch(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| git.exists())?;
    let git = if git.is_dir() {
        git
    } else {
        // A worktree or submodule: a file that says where.
        let text = read_short(&git)?;
        let target = text.strip_prefix("gitdir:")?.trim();
        git.parent()?.join(target)
    };
    let head = read_short(&git.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            // A file that was cut by a crash holds NULs: no branch has such a name.
            (!name.contains(char::is_control))
                .then(|| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
        }
        None => {
            let commit = head.get(..7)?;
            let is_commit = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_commit.then(|| commit.to_owned())
        }
    }
}

/// The beginning of a small file; none when it is no plain file (opening a FIFO would wait).
fn read_short(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path)
        .ok()?
        .take(4096)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_without_git() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let git = root.path().join(".git");
        std::fs::create_dir_all(git.join("worktrees/w")).unwrap();
        for (head, wanted) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/feature/x\n", Some("feature/x")),
            (
                "0123456789abcdef0123456789abcdef01234567\n",
                Some("0123456"),
            ),
            ("", None),
            ("ref: refs/heads/a\0b\n", None),
            ("\0\0\0\0\0\0\0\0\0\0", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(branch(&inner).as_deref(), wanted, "{head:?}");
        }
        std::fs::write(git.join("worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
        std::fs::write(inner.join(".git"), "gitdir: ../../.git/worktrees/w\n").unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("side"));
    }
}
