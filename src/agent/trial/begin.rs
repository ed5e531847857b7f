//! Begins a trial: a worktree with the user's files in their current state.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use tokio_util::sync::CancellationToken;

use super::cleanup::remove;
use super::copies::{Copies, copy_all};
use super::copy::write_whole;
use super::error::TrialError;
use super::listing::Listing;
use super::record::{Modules, RECORD, Trial};
use super::repository::Repository;
use crate::git::Git;
use crate::session::folder::make_private;

/// Bytes that must stay free on the disk.
const SPARE: u64 = 256 * 1024 * 1024;

/// A trial that has just begun.
#[derive(Debug)]
pub struct Started {
    /// The trial.
    pub trial: Trial,
    /// Unreadable files, missing from the trial.
    pub left_out: Vec<PathBuf>,
}

/// Begins a trial of the working folder `cwd` for the session in the file `session`, in its own
/// folder below `home`. Leaves nothing behind if it fails or is cancelled.
pub fn begin(
    home: &Path,
    cwd: &Path,
    session: &Path,
    cancel: &CancellationToken,
) -> Result<Started, TrialError> {
    let repository = Repository::around(cwd)?;
    let private =
        |folder: &Path| make_private(folder).map_err(TrialError::io("can't create", folder));
    private(home)?;
    let home = fs::canonicalize(home).map_err(TrialError::io("can't find", home))?;
    let id = format!("{:08x}", uuid::Uuid::new_v4().as_fields().0);
    let folder = home.join(&id);
    private(&folder)?;
    // Some builds depend on the name of their folder.
    let name = repository.root.file_name().unwrap_or("tree".as_ref());
    let mut trial = Trial {
        session: session.to_owned(),
        cwd: repository.cwd.clone(),
        tree: folder.join(name),
        git_dir: PathBuf::new(),
        common_dir: repository.common_dir.clone(),
        root: repository.root.clone(),
        modules: Modules::new(),
        folder,
        id,
    };
    match fill(&mut trial, &repository, &home, cancel) {
        Ok(left_out) => Ok(Started { trial, left_out }),
        Err(error) => {
            let _ = remove(&trial);
            Err(error)
        }
    }
}

fn fill(
    trial: &mut Trial,
    repository: &Repository,
    home: &Path,
    cancel: &CancellationToken,
) -> Result<Vec<PathBuf>, TrialError> {
    // First, so that the folder's owner is known if anything goes wrong later.
    write_record(trial)?;
    repository.add_worktree(&trial.tree, &trial.folder)?;
    trial.git_dir = Git::within(&trial.tree).path(&["rev-parse", "--absolute-git-dir"])?;
    let listing = Listing::of_user(&repository.git_dir, &trial.root)?;
    trial.modules = listing.modules;
    let mut files = listing.files;
    if let Ok(own) = home.strip_prefix(&trial.root) {
        files.retain(|path| !path.starts_with(own));
        trial.modules.retain(|path, _| !path.starts_with(own));
    }
    write_record(trial)?;
    check_room(trial, &files)?;
    let Copies { begun, left_out } = copy_all(trial, files, cancel)?;
    let place = trial.working_folder();
    let modules = trial.modules.keys().map(|module| trial.tree.join(module));
    for folder in modules.chain([place]) {
        fs::create_dir_all(&folder).map_err(TrialError::io("can't create", &folder))?;
    }
    begun.save(&trial.begun_file())?;
    Ok(left_out)
}

fn write_record(trial: &Trial) -> Result<(), TrialError> {
    let path = trial.folder.join(RECORD);
    let json = serde_json::to_vec_pretty(trial).map_err(io::Error::other);
    let json = json.map_err(TrialError::io(
        "can't save the description of the trial to",
        &path,
    ))?;
    write_whole(&path, &json).map_err(TrialError::io("can't write", &path))
}

/// Fails if the copies don't fit on the disk.
fn check_room(trial: &Trial, files: &BTreeSet<PathBuf>) -> Result<(), TrialError> {
    let sizes = files.iter().map(|path| {
        let meta = fs::symlink_metadata(trial.root.join(path));
        meta.map_or(0, |meta| meta.len())
    });
    let needed: u64 = sizes.sum();
    let Ok(disk) = statvfs(&trial.folder) else {
        return Ok(());
    };
    let free = disk.f_bavail * disk.f_frsize;
    if needed.saturating_add(SPARE) > free {
        return Err(TrialError::NoRoom {
            needed,
            free,
            folder: trial.folder.clone(),
        });
    }
    Ok(())
}
