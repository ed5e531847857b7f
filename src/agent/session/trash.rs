//! Removes sessions by moving them to a trash folder; never deletes them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::file::{lock, torn_path};
use super::folder::make_private;
use super::store::OpenError;

/// Moves the session at `path`, its outputs and torn end to a new folder in `trash`; returns that.
pub fn move_to_trash(path: &Path, trash: &Path) -> Result<PathBuf, OpenError> {
    // Locked until it is moved, so that no other process opens it meanwhile.
    let file = File::open(path)?;
    if !lock(&file) {
        return Err(OpenError::InUse);
    }
    let folder = folder_in(trash, path)?;
    for from in [path.to_owned(), path.with_extension(""), torn_path(path)] {
        let Some(name) = from.file_name() else {
            continue;
        };
        match fs::rename(&from, folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && from != path => {}
            moved => moved?,
        }
    }
    Ok(folder)
}

/// A folder in `trash` for a session of this folder, where its name is free.
fn folder_in(trash: &Path, path: &Path) -> io::Result<PathBuf> {
    let parent = path.parent().and_then(Path::file_name).unwrap_or_default();
    let name = path.file_name().unwrap_or_default();
    let mut folder = trash.join(parent);
    let mut copy = 1;
    while folder.join(name).exists() {
        copy += 1;
        folder = trash.join(format!("{}.{copy}", parent.display()));
    }
    make_private(&folder)?;
    Ok(folder)
}
