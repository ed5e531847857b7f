//! Removes what a trial leaves: its worktree, what git knows of that, its folder. Takes nothing else
//! away, whatever state these are in.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::TrialError;
use super::git::Git;
use super::record::Trial;

/// How often a folder is removed into which something is still being written.
const TRIES: usize = 100;

/// Removes the worktree and everything else of `trial`. The user's files stay as they are.
pub fn remove(trial: &Trial) -> Result<(), TrialError> {
    remove_tree(&trial.tree).map_err(TrialError::io("can't remove", &trial.tree))?;
    forget_worktree(trial)?;
    remove_tree(&trial.folder).map_err(TrialError::io("can't remove", &trial.folder))
}

/// Removes `trial` in the same way, but keeps the files of its worktree until another trial is discarded;
/// gives the folder they are in.
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

/// Has git forget the worktree, whose files are gone. `git worktree prune` would forget others too,
/// for example one on a disk that is not mounted.
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
            // Git cannot, perhaps because the trial has damaged its `.git` file.
            remove_tree(&trial.git_dir).map_err(TrialError::io("can't remove", &trial.git_dir))?;
            // As git does it with the last one.
            let _ = fs::remove_dir(&own);
            Ok(())
        }
        // It was never added.
        _ => Ok(()),
    }
}

/// Removes a folder and all that is in it, also where folders in it are read-only, or where something
/// is still being written into it.
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
        // A link leads to folders of somebody else.
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
