//! Where git keeps its own files for a working tree. Read without git, so that nothing a repository
//! holds can make a program run.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::{O_NOCTTY, O_NONBLOCK};

/// Such a file holds one path.
const MAX_FILE: u64 = 8 * 1024;

/// The folders with git's own files for the working tree at `tree`: that of this working tree, and
/// the one it shares with others, the same but in a linked working tree. None where there is no
/// `.git`.
pub(in crate::agent) fn git_folders(tree: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = tree.join(".git");
    if git.is_dir() {
        return Some((git.clone(), git));
    }
    let own = tree.join(path_in(&git, "gitdir:")?);
    let common = path_in(&own.join("commondir"), "").map(|common| own.join(common));
    Some((own.clone(), common.unwrap_or(own)))
}

/// The path that the file at `path` names behind `prefix`.
fn path_in(path: &Path, prefix: &str) -> Option<PathBuf> {
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(O_NONBLOCK | O_NOCTTY);
    let file = file.open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text).ok()?;
    let named = text.lines().next()?.strip_prefix(prefix)?.trim();
    (!named.is_empty()).then(|| PathBuf::from(named))
}
