//! How file tools write: they stage the new content next to the file, with fsync (`stage`), then rename
//! it into place (`Staged::commit`). Both use `agent::new_file`. They overwrite a file with hard links,
//! or in a folder we can't write, unless its other names may be out of the call's reach. All steps use
//! the descriptor of the folder opened first. This module doesn't decide whether to write.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime};

use nix::libc::ETXTBSY;
use rustix::fs::{OFlags, Stat};
use tokio_util::sync::CancellationToken;

use crate::lock::lock;
use crate::new_file::{NewFile, PREFIX, SUFFIX, name, overwrite};
use crate::paths;
use crate::workspace::{MadeFolder, Place, Reach, remove_folders};

/// The prefix for files that a patch removes. A leftover is the user's only copy: never delete it.
const ASIDE_PREFIX: &str = ".tiller.removed-";
/// A killed program left any temporary file older than this.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// Why a write failed. The file has its old content. Only if overwriting in place failed, and restoring
/// it failed too, it may contain part of the new content.
#[derive(Debug)]
pub enum WriteError {
    /// The call was cancelled before the rename; nothing remains on disk.
    Cancelled,
    /// Someone else changed the file while the new content was prepared.
    Changed,
    /// The file, folder or disk returned an error.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// New content for a file, ready to take its place. Dropping it removes it.
pub struct Staged<'a> {
    place: Place,
    bytes: &'a [u8],
    before: Option<&'a Metadata>,
    /// None if the file must be written in place.
    temp: Option<NewFile>,
    made: Vec<MadeFolder>,
    /// Whether a file with hard links can be written in place.
    keeps_links: bool,
}

/// A file that was renamed because it will be removed. Dropping this removes it.
pub struct SetAside {
    kept: Place,
    place: Place,
    is_to_go: Cell<bool>,
}

impl SetAside {
    /// Renames it back. If that fails, it keeps the other name, which the error contains.
    pub fn put_back(&self) -> io::Result<()> {
        self.is_to_go.set(false);
        let renamed = self.kept.rename(&self.place);
        let kept = paths::readable(self.kept.name());
        renamed.map_err(|error| io::Error::other(format!("{error}; it is now named {kept}")))
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        if self.is_to_go.get() {
            let _ = self.kept.remove();
        }
    }
}

/// Stages `bytes` for the real path `path`, which `reach` lets the call write. `before` is what the
/// caller saw there, or none if there was no file. The new file gets owner, mode and extended attributes
/// of `like`. Missing folders are created.
pub fn stage<'a>(
    reach: &Reach,
    path: &Path,
    bytes: &'a [u8],
    before: Option<&'a Metadata>,
    like: Option<&Path>,
    cancel: &CancellationToken,
) -> Result<Staged<'a>, WriteError> {
    stop_if(cancel)?;
    let (place, made) = Place::make(path)?;
    let mut staged = Staged {
        place,
        bytes,
        before,
        temp: None,
        made,
        keeps_links: reach.may_write_in_place(),
    };
    if let Some(meta) = before {
        may_write_at(&staged.place, meta)?;
        if meta.nlink() > 1 && staged.keeps_links {
            return Ok(staged);
        }
    }
    sweep(path.parent().unwrap_or(Path::new("/")), &staged.place);
    let mode = if like.is_some() { 0o600 } else { 0o666 };
    let mut temp = match NewFile::beside(&staged.place, mode) {
        Ok(temp) => temp,
        Err(error) if before.is_some() && folder_refuses(&error) => return Ok(staged),
        Err(error) => return Err(error.into()),
    };
    if let Some(like) = like {
        let like = Place::open(like).and_then(|like| like.open_file(OFlags::RDONLY));
        let copied = like.and_then(|like| temp.copy_attributes(&like));
        if copied.is_err() && before.is_some() {
            return Ok(staged);
        }
    }
    for chunk in bytes.chunks(1 << 20) {
        stop_if(cancel)?;
        temp.file().write_all(chunk)?;
    }
    temp.file().sync_all()?;
    stop_if(cancel)?;
    staged.temp = Some(temp);
    Ok(staged)
}

impl Staged<'_> {
    /// Moves the content into place; returns the folders it created, outermost first.
    pub fn commit(mut self) -> Result<Vec<MadeFolder>, WriteError> {
        match self.temp.take() {
            None => self.in_place()?,
            Some(temp) => {
                must_be_as(&self.place, self.before)?;
                let renamed = match self.before {
                    Some(_) => temp.replace(&self.place),
                    None => temp.put(&self.place),
                };
                renamed.map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => WriteError::Changed,
                    _ => error.into(),
                })?;
            }
        }
        Ok(std::mem::take(&mut self.made))
    }

    fn in_place(&self) -> Result<(), WriteError> {
        let mut file = self.place.open_file(OFlags::RDWR)?;
        let now = file.metadata()?;
        if self.before.is_none_or(|before| !is_same(&now, before)) {
            return Err(WriteError::Changed);
        }
        if now.nlink() > 1 && !self.keeps_links {
            let text = "it has hard links, which may be outside the workspace; its folder can't hold a new \
                file in its place";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text).into());
        }
        Ok(overwrite(&mut file, self.bytes)?)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.temp = None;
        remove_folders(&self.made);
    }
}

/// Renames what is at `entry`: the file at `real`, or a link to it. Both are real paths except for that
/// link; the file must be the one that the caller saw.
pub fn set_aside(entry: &Path, real: &Path, before: &Metadata) -> Result<SetAside, WriteError> {
    must_be_as(&Place::open(real)?, Some(before))?;
    let place = Place::open(entry)?;
    let kept = place.beside(name(ASIDE_PREFIX));
    place.rename(&kept)?;
    Ok(SetAside {
        kept,
        place,
        is_to_go: Cell::new(true),
    })
}

/// Restores the file at the real path `path`: `before` and its `bytes`, or no file.
pub fn restore(
    reach: &Reach,
    path: &Path,
    before: Option<(&Metadata, &[u8])>,
) -> Result<(), WriteError> {
    let place = Place::open(path)?;
    let Some((meta, bytes)) = before else {
        return Ok(place.remove()?);
    };
    let file = place.open_file(OFlags::RDONLY)?;
    let now = file.metadata()?;
    // Also if the call was cancelled: this is what cancelling means.
    let cancel = CancellationToken::new();
    stage(reach, path, bytes, Some(&now), Some(path), &cancel)?.commit()?;
    let file = place.open_file(OFlags::RDONLY)?;
    Ok(file.set_permissions(meta.permissions())?)
}

/// Removes leftover temporary files, once per folder, because large folders take long to list.
fn sweep(dir: &Path, place: &Place) {
    static SWEPT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let first = lock(&SWEPT).insert(dir.to_path_buf());
    if first {
        let _ = remove_left_over(place);
    }
}

fn remove_left_over(place: &Place) -> io::Result<()> {
    for (name, _) in place.folder().to_list()?.names()?.flatten() {
        let bytes = name.as_encoded_bytes();
        let is_ours = bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes());
        let left = place.beside(name);
        if is_ours && left.stat().is_ok_and(|stat| age(&stat) > LEFT_OVER) {
            let _ = left.remove();
        }
    }
    Ok(())
}

/// How long ago a file was written.
fn age(stat: &Stat) -> Duration {
    let modified = Duration::from_secs(stat.st_mtime.max(0) as u64);
    let age = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    age.saturating_sub(modified)
}

/// A rename needs no permission on the file itself, so this checks it. A file without any write bit is
/// protected on purpose: refused even if the system would allow the write.
pub fn may_write(path: &Path, meta: &Metadata) -> io::Result<()> {
    may_write_at(&Place::open(path)?, meta)
}

fn may_write_at(place: &Place, meta: &Metadata) -> io::Result<()> {
    if meta.mode() & 0o222 == 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    match place.open_file(OFlags::RDWR) {
        // A running program can't be opened for writing, but it can be replaced.
        Err(error) if error.raw_os_error() != Some(ETXTBSY) => Err(error),
        _ => Ok(()),
    }
}

fn folder_refuses(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Fails unless `place` is what the caller saw there.
fn must_be_as(place: &Place, before: Option<&Metadata>) -> Result<(), WriteError> {
    match (place.stat(), before) {
        (Ok(now), Some(then)) if is_as(&now, then) => Ok(()),
        (Err(_), None) => Ok(()),
        _ => Err(WriteError::Changed),
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn is_as(now: &Stat, then: &Metadata) -> bool {
    let modified = (now.st_mtime as i64, now.st_mtime_nsec as i64);
    now.st_ino as u64 == then.ino()
        && now.st_dev as u64 == then.dev()
        && now.st_size as u64 == then.len()
        && modified == (then.mtime(), then.mtime_nsec())
}

fn is_same(now: &Metadata, then: &Metadata) -> bool {
    now.ino() == then.ino()
        && now.dev() == then.dev()
        && now.len() == then.len()
        && now.modified().ok() == then.modified().ok()
}

fn stop_if(cancel: &CancellationToken) -> Result<(), WriteError> {
    if cancel.is_cancelled() {
        Err(WriteError::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let cancel = CancellationToken::new();
        let stage = |before| stage(&Reach::everything(), &path, b"new", before, None, &cancel);
        let staged = stage(None).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(staged.commit(), Err(WriteError::Changed)));
        // Hard links are written in place.
        fs::hard_link(&path, dir.path().join("g")).unwrap();
        let before = fs::metadata(&path).unwrap();
        let staged = stage(Some(&before)).unwrap();
        fs::write(&path, "their second").unwrap();
        assert!(matches!(staged.commit(), Err(WriteError::Changed)));
        assert_eq!(fs::read(&path).unwrap(), b"their second");
        assert_eq!(names(dir.path()), ["f", "g"]);
    }

    #[test]
    fn what_was_set_aside_is_nothing_left_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let old = File::create(&path).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        let before = fs::metadata(&path).unwrap();
        let kept = set_aside(&path, &path, &before).unwrap();
        let left = File::create(dir.path().join(".tiller-1.tmp")).unwrap();
        left.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(!path.exists());
        remove_left_over(&Place::open(&path).unwrap()).unwrap();
        assert_eq!(names(dir.path()), [kept.kept.name().to_str().unwrap()]);
        // Files that can't be restored stay.
        fs::create_dir(&path).unwrap();
        assert!(kept.put_back().is_err());
        drop(kept);
        assert_eq!(names(dir.path()).len(), 2);
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "").unwrap();
        drop(set_aside(&path, &path, &fs::metadata(&path).unwrap()).unwrap());
        assert_eq!(names(dir.path()).len(), 1);
    }
}
