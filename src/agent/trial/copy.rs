//! Copies files byte by byte with mode and time, and finds out what is at a path. Never follows links.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use super::error::TrialError;

/// Up to this size in bytes, reading and writing a file is faster than having the system copy it.
const SMALL: u64 = 128 * 1024;

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    File(Metadata),
    Link(PathBuf),
    Folder,
    /// A pipe, a socket or a device.
    Special,
}

/// Examines paths below a folder. A path behind a link is not below it.
pub(crate) struct Looker<'a> {
    root: &'a Path,
    /// Known folders.
    folders: BTreeSet<PathBuf>,
}

impl<'a> Looker<'a> {
    pub fn new(root: &'a Path) -> Self {
        Self {
            root,
            folders: BTreeSet::new(),
        }
    }

    pub fn look(&mut self, path: &Path) -> io::Result<Found> {
        if !self.is_reachable(path)? {
            return Ok(Found::Nothing);
        }
        let whole = self.root.join(path);
        let meta = match fs::symlink_metadata(&whole) {
            Ok(meta) => meta,
            Err(error) if is_gone(&error) => return Ok(Found::Nothing),
            Err(error) => return Err(error),
        };
        let kind = meta.file_type();
        Ok(if kind.is_file() {
            Found::File(meta)
        } else if kind.is_symlink() {
            Found::Link(fs::read_link(&whole)?)
        } else if kind.is_dir() {
            Found::Folder
        } else {
            Found::Special
        })
    }

    pub(super) fn find(&mut self, path: &Path) -> Result<Found, TrialError> {
        let whole = self.root.join(path);
        self.look(path)
            .map_err(TrialError::io("can't read", &whole))
    }

    /// Returns `true` if everything above `path` is a folder. An unreadable folder isn't treated as
    /// missing, or its files would seem removed.
    fn is_reachable(&mut self, path: &Path) -> io::Result<bool> {
        let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty()) else {
            return Ok(true);
        };
        if self.folders.contains(parent) {
            return Ok(true);
        }
        let is_folder = match fs::symlink_metadata(self.root.join(parent)) {
            Ok(meta) => meta.is_dir(),
            Err(error) if is_gone(&error) => false,
            Err(error) => return Err(error),
        };
        let is_reachable = is_folder && self.is_reachable(parent)?;
        if is_reachable {
            self.folders.insert(parent.to_owned());
        }
        Ok(is_reachable)
    }
}

pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    // If it has become a pipe or a link by now, this neither blocks nor follows it.
    let mut source = OpenOptions::new()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(from)?;
    let meta = source.metadata()?;
    let mut copy = File::create_new(to)?;
    if meta.len() <= SMALL {
        let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
        (&source).take(u64::MAX).read_to_end(&mut bytes)?;
        copy.write_all(&bytes)?;
    } else {
        // Shares the bytes if the file system supports that.
        io::copy(&mut source, &mut copy)?;
    }
    if let Ok(modified) = meta.modified() {
        copy.set_modified(modified)?;
    }
    copy.set_permissions(meta.permissions())
}

pub(super) fn link(target: &Path, to: &Path) -> io::Result<()> {
    symlink(target, to)
}

pub(super) fn is_executable(meta: &Metadata) -> bool {
    meta.permissions().mode() & 0o100 != 0
}

pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Writes a file atomically.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_folder_is_not_treated_as_missing() {
        let root = tempfile::tempdir().unwrap();
        let mut looker = Looker::new(root.path());
        fs::write(root.path().join("file"), "").unwrap();
        for gone in ["none/below/it", "file/below/it"] {
            let found = looker.look(Path::new(gone)).unwrap();
            assert!(matches!(found, Found::Nothing), "{gone}: {found:?}");
        }
        // Unreadable even for root.
        let path = Path::new(&"x".repeat(300)).join("below/it");
        assert!(looker.look(&path).is_err());
    }
}
