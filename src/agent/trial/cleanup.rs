//! Removes everything that belongs to a trial: its worktree, git's record of it, its folder. Removes
//! nothing else, regardless of their state.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::TrialError;
use super::record::Trial;
use crate::git::Git;

/// Most attempts to remove a folder that is still being written to.
const TRIES: usize = 100;

/// Removes the worktree and everything else of `trial`. The user's files stay unchanged.
pub fn remove(trial: &Trial) -> Result<(), TrialError> {
    remove_tree(&trial.tree).map_err(TrialError::io("can't remove", &trial.tree))?;
    forget_worktree(trial)?;
    remove_tree(&trial.folder).map_err(TrialError::io("can't remove", &trial.folder))
}

/// Removes `trial` like [`remove`], but keeps the files of its worktree until another trial is discarded.
/// Returns the folder they are in.
pub fn discard(trial: &Trial) -> Result<PathBuf, TrialError> {
    let trash = trial.folder.with_file_name(".trash");
    let kept = trash.join(&trial.id);
    let moved = remove_tree(&trash)
        .and_then(|()| fs::DirBuilder::new().mode(0o700).create(&trash))
        .and_then(|()| fs::rename(&trial.tree, &kept));
    moved.map_err(TrialError::io("can't move", &trial.tree))?;
    remove(trial)?;
    Ok(kept)
}

/// Makes git forget the worktree, whose files are gone. `git worktree prune` would forget others
/// too, such as one on an unmounted disk.
fn forget_worktree(trial: &Trial) -> Result<(), TrialError> {
    let own = trial.common_dir.join("worktrees");
    if !own.is_dir() {
        return Ok(());
    }
    let remove = ["worktree", "remove", "--force", "--force"];
    let mut arguments: Vec<&std::ffi::OsStr> = remove.iter().map(AsRef::as_ref).collect();
    arguments.push(trial.tree.as_os_str());
    let removed = Git::within(&trial.common_dir)
        .without_hooks()
        .and_then(|git| git.run(&arguments));
    let named = trial.git_dir.parent() == Some(own.as_path());
    match removed {
        Err(_) if named => {
            // Git failed, perhaps because the trial has damaged its `.git` file.
            remove_tree(&trial.git_dir).map_err(TrialError::io("can't remove", &trial.git_dir))?;
            // Git also does this when the last one is removed.
            let _ = fs::remove_dir(&own);
            Ok(())
        }
        // It was never added.
        _ => Ok(()),
    }
}

/// Removes a folder with all its contents, even if folders in it are read-only or still being written to.
fn remove_tree(folder: &Path) -> io::Result<()> {
    let not_empty = |error: &io::Error| error.kind() == io::ErrorKind::DirectoryNotEmpty;
    let mut removed = fs::remove_dir_all(folder);
    for _ in 1..TRIES {
        if !removed.as_ref().is_err_and(not_empty) {
            break;
        }
        removed = fs::remove_dir_all(folder);
    }
    match removed {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_folders(folder)?;
            fs::remove_dir_all(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn open_folders(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        // A link may lead to other folders.
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_folders(&entry.path())?;
        }
    }
    Ok(())
}
