//! Writes and removes the user's files, through `agent::new_file`. All new content is on the disk,
//! beside its destination, before any file is touched.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::copy::is_gone;
use super::error::TrialError;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::Entry;
use crate::new_file::{NewFile, overwrite, put_link};
use crate::stamp::Stamp;
use crate::workspace::Place;

/// Removes a file or link of the user, and the folders that become empty.
pub(super) fn remove_file(trial: &Trial, path: &Path) -> Result<(), TrialError> {
    let whole = trial.root.join(path);
    match fs::remove_file(&whole) {
        Err(error) if !is_gone(&error) => {
            return Err(TrialError::io("can't remove", &whole)(error));
        }
        _ => {}
    }
    let above = whole.ancestors().skip(1);
    for folder in above.take_while(|it| *it != trial.root && !trial.cwd.starts_with(it)) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// New content, beside its destination.
enum Content {
    /// A file that replaces what is there.
    File(NewFile),
    /// The bytes for a file that has other names, or attributes that a new file can't get.
    InPlace(Vec<u8>, u32),
    Link(PathBuf),
}

pub(super) struct Staged(Vec<(PathBuf, Content)>);

impl Staged {
    /// Writes the content of `entries` beside their destinations.
    pub fn new<'e>(
        trial: &Trial,
        objects: &Objects,
        entries: impl IntoIterator<Item = (&'e PathBuf, &'e Entry)>,
        stamps: &BTreeMap<PathBuf, Stamp>,
    ) -> Result<Self, TrialError> {
        let (mut staged, mut files) = (Vec::new(), Vec::new());
        for (path, entry) in entries {
            match entry {
                Entry::Link(target) => {
                    staged.push((path.clone(), Content::Link(target.clone())));
                }
                Entry::File {
                    executable,
                    version,
                } => files.push((path, *executable, version.as_str())),
            }
        }
        let versions: Vec<&str> = files.iter().map(|(.., version)| *version).collect();
        objects.read(&versions, |index, bytes| {
            let (path, executable, _) = files[index];
            let whole = trial.root.join(path);
            let usual = if executable { 0o755 } else { 0o644 };
            let like = stamps.get(path).map_or(usual, |stamp| stamp.mode);
            let content = stage(&whole, bytes, executable, like);
            let content = content.map_err(TrialError::io("can't write", &whole))?;
            staged.push((path.clone(), content));
            Ok(())
        })?;
        Ok(Self(staged))
    }

    pub fn commit(self, trial: &Trial) -> Result<(), TrialError> {
        for (path, content) in self.0 {
            let whole = trial.root.join(path);
            content
                .commit(&whole)
                .map_err(TrialError::io("can't write", &whole))?;
        }
        Ok(())
    }
}

impl Content {
    fn commit(self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
            remove_empty_folders(path)?;
        }
        let place = Place::open(path)?;
        match self {
            Self::File(new) => new.replace(&place),
            Self::InPlace(bytes, mode) => {
                let mut file = place.open_file(OFlags::RDWR)?;
                overwrite(&mut file, &bytes)?;
                file.set_permissions(Permissions::from_mode(mode))
            }
            Self::Link(target) => put_link(&place, &target),
        }
    }
}

/// Writes `bytes` to a new file beside `path`, with the attributes and permissions of the existing
/// file. If there is none, it gets the permissions `new`.
fn stage(path: &Path, bytes: Vec<u8>, executable: bool, new: u32) -> io::Result<Content> {
    let meta = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file);
    let mode = match &meta {
        Some(meta) if executable => meta.mode() | ((meta.mode() & 0o444) >> 2),
        Some(meta) => meta.mode() & !0o111,
        None => new,
    };
    let mode = mode & 0o7777;
    if meta.as_ref().is_some_and(|meta| meta.nlink() > 1) {
        return Ok(Content::InPlace(bytes, mode));
    }
    // The destination folder may not exist until everything is put in place.
    let folder = path.ancestors().skip(1).find(|it| it.is_dir());
    let beside = folder.unwrap_or(Path::new("/")).join("new");
    let mut file = NewFile::beside(&Place::open(&beside)?, 0o600)?;
    if meta.is_some() {
        let old = Place::open(path)?.open_file(OFlags::RDONLY);
        if old.and_then(|old| file.copy_attributes(&old)).is_err() {
            return Ok(Content::InPlace(bytes, mode));
        }
    }
    file.file().write_all(&bytes)?;
    file.file().set_permissions(Permissions::from_mode(mode))?;
    file.file().sync_data()?;
    Ok(Content::File(file))
}

fn remove_empty_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty_folders(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}
