//! Puts new bytes where a file is or will be: all of them or none. First beside it, in a temporary
//! file with fsync (`stage`), then in its place with a rename (`Staged::commit`), so that a crash
//! leaves the old file or the new one. Where a rename would break something (hard links, another
//! owner, a folder we may not write) the file is written in place, and put back if that fails. Does
//! not decide whether the write is wanted.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use nix::libc::{ETXTBSY, O_NONBLOCK};
use tempfile::{NamedTempFile, TempPath};
use tokio_util::sync::CancellationToken;
use xattr::FileExt;

use crate::agent::tools::kind;

/// Larger files are not written in place: the old content is kept in memory, to be put back if the
/// write fails.
const MAX_BACKUP: u64 = 64 * 1024 * 1024;
/// How the names of temporary files begin.
const PREFIX: &str = ".tiller-";
/// How the names of files begin that a patch takes away: what was left of these is the user's only
/// copy, so it never counts as left over.
const ASIDE_PREFIX: &str = ".tiller.removed-";
/// How the names of both end.
const SUFFIX: &str = ".tmp";
/// A temporary file older than this was left by a program that was killed.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// Why a write failed. The file holds what it held before; only where an overwrite in place failed
/// and putting the old content back failed too, it may hold a part of the new content.
#[derive(Debug)]
pub enum WriteError {
    /// The call was cancelled before the rename; nothing is left behind.
    Cancelled,
    /// Somebody else changed the file while the new content was being made.
    Changed,
    /// The file, folder or disk refused.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// New content for a file, ready to take its place. Dropped instead, it leaves nothing behind.
pub struct Staged<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    before: Option<&'a Metadata>,
    /// None when the file is to be written in place.
    temp: Option<NamedTempFile>,
    made: Vec<PathBuf>,
}

/// Stages `bytes` for `path`, which has no symbolic links in it (see `paths::real`). `before` is
/// what the caller saw there: none when there was no file. The new file gets owner, mode and
/// extended attributes of `like`. Missing folders are created.
pub fn stage<'a>(
    path: &'a Path,
    bytes: &'a [u8],
    before: Option<&'a Metadata>,
    like: Option<(&Path, &Metadata)>,
    cancel: &CancellationToken,
) -> Result<Staged<'a>, WriteError> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    stop_if(cancel)?;
    let mut staged = Staged {
        path,
        bytes,
        before,
        temp: None,
        made: make_folders(dir)?,
    };
    if let Some(meta) = before {
        may_write(path, meta)?;
        if meta.nlink() > 1 {
            return Ok(staged);
        }
    }
    sweep(dir);
    let mode = if like.is_some() { 0o600 } else { 0o666 };
    let mut temp = match temporary(dir, PREFIX, mode) {
        Ok(temp) => temp,
        Err(error) if before.is_some() && folder_refuses(&error) => return Ok(staged),
        Err(error) => return Err(error.into()),
    };
    if let Some((like, meta)) = like {
        let copied = copy_attributes(like, meta, temp.as_file());
        if copied.is_err() && before.is_some() {
            return Ok(staged);
        }
    }
    for chunk in bytes.chunks(1 << 20) {
        stop_if(cancel)?;
        temp.as_file_mut().write_all(chunk)?;
    }
    temp.as_file().sync_all()?;
    stop_if(cancel)?;
    staged.temp = Some(temp);
    Ok(staged)
}

impl Staged<'_> {
    /// Puts the content in its place; gives the folders that had to be made, outermost first.
    pub fn commit(mut self) -> Result<Vec<PathBuf>, WriteError> {
        match self.temp.take() {
            None => in_place(self.path, self.bytes, self.before)?,
            Some(temp) => {
                must_be_as(self.path, self.before)?;
                let result = match self.before {
                    Some(_) => temp.persist(self.path),
                    None => temp.persist_noclobber(self.path),
                };
                result.map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => WriteError::Changed,
                    _ => error.error.into(),
                })?;
            }
        }
        Ok(std::mem::take(&mut self.made))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.temp = None;
        remove_folders(&self.made);
    }
}

/// Renames the file at `entry`; it goes when its new name is dropped.
pub fn set_aside(entry: &Path) -> io::Result<TempPath> {
    let dir = entry.parent().unwrap_or(Path::new("/"));
    let kept = temporary(dir, ASIDE_PREFIX, 0o600)?.into_temp_path();
    fs::rename(entry, &kept).map_err(|error| io::Error::from(error.kind()))?;
    Ok(kept)
}

/// A new, empty file in `dir` that goes when it is dropped.
fn temporary(dir: &Path, prefix: &str, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    builder.permissions(Permissions::from_mode(mode));
    // Without the temporary name, which tells the model nothing.
    builder
        .tempfile_in(dir)
        .map_err(|error| io::Error::from(error.kind()))
}

/// Removes temporary files that were left over: once for each folder, before the first
/// write in it, since a large folder takes long to list.
fn sweep(dir: &Path) {
    static SWEPT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let first = swept.insert(dir.to_path_buf());
    drop(swept);
    if first {
        remove_left_over(dir);
    }
}

fn remove_left_over(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        let is_ours = bytes.starts_with(PREFIX.as_bytes()) && bytes.ends_with(SUFFIX.as_bytes());
        let modified = || entry.metadata().and_then(|meta| meta.modified());
        if is_ours
            && let Ok(modified) = modified()
            && modified.elapsed().is_ok_and(|age| age > LEFT_OVER)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Takes away folders that were made, as far as they are empty.
pub fn remove_folders(made: &[PathBuf]) {
    for dir in made.iter().rev() {
        let _ = fs::remove_dir(dir);
    }
}

/// Makes `dir` and what is missing above it; gives what was made, outermost first.
fn make_folders(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = dir
        .ancestors()
        .take_while(|dir| !dir.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    fs::create_dir_all(dir).inspect_err(|_| remove_folders(&missing))?;
    Ok(missing)
}

/// Owner, mode, access control list and other extended attributes, as a rename would lose them.
fn copy_attributes(from: &Path, meta: &Metadata, to: &File) -> io::Result<()> {
    to.set_permissions(meta.permissions())?;
    let own = to.metadata()?;
    if own.uid() != meta.uid() || own.gid() != meta.gid() {
        fchown(to, Some(meta.uid()), Some(meta.gid()))?;
        // A change of owner takes the set-user-id bit away.
        to.set_permissions(meta.permissions())?;
    }
    let names = match xattr::list(from) {
        Ok(names) => names,
        // This file system has none.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(()),
        Err(error) => return Err(error),
    };
    for name in names {
        let value = xattr::get(from, &name)?;
        if let Some(value) =
            value.filter(|value| to.get_xattr(&name).ok().flatten().as_ref() != Some(value))
        {
            to.set_xattr(&name, &value)?;
        }
    }
    Ok(())
}

/// A rename needs no permission on the file itself, so that is asked here. A file without any
/// write bit was protected on purpose: refused even where the system would let us.
pub fn may_write(path: &Path, meta: &Metadata) -> io::Result<()> {
    if meta.mode() & 0o222 == 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    match open_to_write(path) {
        // A program that runs cannot be opened for writing, but replaced.
        Err(error) if error.raw_os_error() != Some(ETXTBSY) => Err(error),
        _ => Ok(()),
    }
}

fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
}

fn folder_refuses(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Fails when what is at `path` is not what the caller saw there.
pub fn must_be_as(path: &Path, before: Option<&Metadata>) -> Result<(), WriteError> {
    match (fs::symlink_metadata(path), before) {
        (Ok(now), Some(then)) if is_same(&now, then) => Ok(()),
        (Err(_), None) => Ok(()),
        _ => Err(WriteError::Changed),
    }
}

fn is_same(now: &Metadata, then: &Metadata) -> bool {
    now.ino() == then.ino()
        && now.dev() == then.dev()
        && now.len() == then.len()
        && now.modified().ok() == then.modified().ok()
}

fn in_place(path: &Path, bytes: &[u8], before: Option<&Metadata>) -> Result<(), WriteError> {
    let mut file = open_to_write(path)?;
    let now = file.metadata()?;
    if before.is_none_or(|before| !is_same(&now, before)) {
        return Err(WriteError::Changed);
    }
    if now.len() > MAX_BACKUP {
        let (size, most) = (kind::size(now.len()), kind::size(MAX_BACKUP));
        let text = format!(
            "it has {size} and can only be overwritten in place, because it has hard links, another \
             owner or a folder that may not be written; that is done for files up to {most}, which \
             can be put back if the write fails"
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text).into());
    }
    let mut old = Vec::with_capacity(now.len() as usize);
    file.read_to_end(&mut old)?;
    let result = overwrite(&mut file, bytes);
    if result.is_err() {
        let _ = overwrite(&mut file, &old);
    }
    Ok(result?)
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
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
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let cancel = CancellationToken::new();
        let staged = stage(&path, b"new", None, None, &cancel).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(staged.commit(), Err(WriteError::Changed)));
        // Hard links are written in place.
        fs::hard_link(&path, dir.path().join("g")).unwrap();
        let before = fs::metadata(&path).unwrap();
        let staged = stage(&path, b"new", Some(&before), None, &cancel).unwrap();
        fs::write(&path, "their second").unwrap();
        assert!(matches!(staged.commit(), Err(WriteError::Changed)));
        assert_eq!(fs::read(&path).unwrap(), b"their second");
        let mut names = names(dir.path());
        names.sort();
        assert_eq!(names, ["f", "g"]);
    }

    #[test]
    fn what_was_set_aside_is_nothing_left_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let old = File::create(&path).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        let kept = set_aside(&path).unwrap();
        assert!(!path.exists());
        remove_left_over(dir.path());
        assert!(kept.exists());
        drop(kept);
        assert_eq!(names(dir.path()), [""; 0]);
    }
}
