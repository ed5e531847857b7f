//! Contents by hash, in a private folder that several processes may share. A process that adds a
//! content and refers to it from a record holds a shared lock. One that removes unused contents
//! holds an exclusive lock.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use tempfile::NamedTempFile;

use super::error::UndoError;
use super::state::Lost;
use crate::hash;
use crate::lock::FileLock;
use crate::session::folder::make_private;
use crate::stamp::Stamp;

/// Larger files are never completely in memory.
const SMALL: u64 = 1 << 20;
/// Attempts to copy a file that keeps changing.
const TRIES: usize = 3;
/// Prefix of temporary names.
const TEMPORARY: &str = "new-";

/// The folder of contents.
#[derive(Clone, Debug)]
pub(super) struct Store {
    home: PathBuf,
    /// Bytes added by this process since the last query.
    pub(super) written: Arc<AtomicU64>,
}

impl Store {
    /// Opens or creates the store in the folder `home`.
    pub fn open(home: &Path) -> Result<Self, UndoError> {
        let store = Self {
            home: home.to_owned(),
            written: Arc::default(),
        };
        for folder in [home, &store.objects(), &store.turns()] {
            make_private(folder).map_err(UndoError::io("can't create", folder))?;
        }
        Ok(store)
    }

    /// tiller's data folder, which contains the store.
    pub fn data(&self) -> &Path {
        self.home.parent().unwrap_or(&self.home)
    }

    /// Counts data stored besides contents.
    pub fn note_written(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn turns(&self) -> PathBuf {
        self.home.join("turns")
    }

    /// The folder of contents.
    pub fn objects(&self) -> PathBuf {
        self.home.join("objects")
    }

    /// The path of the content `hash`, if stored.
    pub fn path_of(&self, hash: &str) -> PathBuf {
        let (folder, name) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.objects().join(folder).join(name)
    }

    /// True if all `size` bytes of the content are stored. After a power cut a file may be empty.
    pub fn has(&self, hash: &str, size: u64) -> bool {
        let meta = fs::symlink_metadata(self.path_of(hash));
        hash.len() > 2 && meta.is_ok_and(|meta| meta.is_file() && meta.len() == size)
    }

    /// Protects contents used from now on, while the lock lives.
    pub fn lock(&self) -> Result<FileLock, UndoError> {
        let file = self.lock_file()?;
        let path = self.home.join("lock");
        file.lock_shared()
            .map_err(UndoError::io("can't lock", &path))?;
        Ok(FileLock(file))
    }

    /// Excludes all other processes; `None` while any holds a lock.
    pub fn lock_alone(&self) -> Result<Option<FileLock>, UndoError> {
        let file = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FileLock(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => {
                let path = self.home.join("lock");
                Err(UndoError::io("can't lock", &path)(error))
            }
        }
    }

    fn lock_file(&self) -> Result<File, UndoError> {
        let path = self.home.join("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path);
        file.map_err(UndoError::io("can't open", &path))
    }

    /// Stores the bytes of the file at `path` and returns their hash. If the file no longer matches
    /// `stamp`, stores its current content.
    pub fn keep_file(&self, path: &Path) -> Result<Result<(String, Stamp), Lost>, UndoError> {
        match self.try_to_keep(path) {
            Ok(kept) => Ok(Ok(kept)),
            Err(Failed::Lost(lost)) => Ok(Err(lost)),
            Err(Failed::Writing(error)) => Err(error),
        }
    }

    fn try_to_keep(&self, path: &Path) -> Result<(String, Stamp), Failed> {
        for _ in 0..TRIES {
            let mut source = open_file(path)?;
            let before = source.metadata()?;
            if !before.is_file() {
                break;
            }
            let kept = if before.len() <= SMALL {
                let mut bytes = Vec::with_capacity(before.len() as usize);
                source.read_to_end(&mut bytes)?;
                Kept::Bytes(bytes)
            } else {
                let (temp, hash) = self.copy(&mut source)?;
                Kept::Copy(temp, hash)
            };
            let (stamp, now) = (Stamp::of(&before), source.metadata());
            if now.is_ok_and(|now| Stamp::of(&now) == stamp) {
                let hash = match kept {
                    Kept::Bytes(bytes) => self.keep_bytes(&bytes)?,
                    Kept::Copy(temp, hash) => {
                        self.name(temp, &hash)?;
                        hash
                    }
                };
                return Ok((hash, stamp));
            }
        }
        Err(Failed::Lost(Lost::Changing))
    }

    pub fn keep_bytes(&self, bytes: &[u8]) -> Result<String, UndoError> {
        let hash = hash::of_bytes(bytes);
        if !self.has(&hash, bytes.len() as u64) {
            let mut temp = self.temporary()?;
            let written = temp.write_all(bytes);
            written.map_err(UndoError::io("can't write", temp.path()))?;
            self.name(temp, &hash)?;
        }
        Ok(hash)
    }

    /// Copies a large file, and hashes the copy so that both match.
    fn copy(&self, source: &mut File) -> Result<(NamedTempFile, String), Failed> {
        let mut temp = self.temporary()?;
        let path = temp.path().to_owned();
        let failed = |error| Failed::Writing(UndoError::io("can't write", &path)(error));
        if share_blocks(source, temp.as_file()) {
            temp.as_file_mut().rewind().map_err(failed)?;
            let (hash, _) = hash::of_reader(temp.as_file_mut(), |_| Ok(()))?;
            return Ok((temp, hash));
        }
        let mut unwritten = None;
        let read = hash::of_reader(source, |bytes| {
            temp.write_all(bytes).map_err(|error| {
                unwritten = Some(error);
                io::Error::other("")
            })
        });
        match unwritten {
            Some(error) => Err(failed(error)),
            None => Ok((temp, read?.0)),
        }
    }

    fn temporary(&self) -> Result<NamedTempFile, UndoError> {
        let objects = self.objects();
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        builder.permissions(Permissions::from_mode(0o600));
        let temp = builder.tempfile_in(&objects);
        temp.map_err(UndoError::io("can't write to", &objects))
    }

    fn name(&self, temp: NamedTempFile, hash: &str) -> Result<(), UndoError> {
        let path = self.path_of(hash);
        if let Some(folder) = path.parent() {
            make_private(folder).map_err(UndoError::io("can't create", folder))?;
        }
        let size = temp.as_file().metadata().map_or(0, |meta| meta.len());
        self.note_written(size);
        let named = temp.persist(&path);
        let named = named.map_err(|error| error.error);
        named.map(drop).map_err(UndoError::io("can't write", &path))
    }
}

enum Kept {
    Bytes(Vec<u8>),
    Copy(NamedTempFile, String),
}

/// Why a file wasn't stored. Unreadable content is lost.
enum Failed {
    Lost(Lost),
    Writing(UndoError),
}

impl From<io::Error> for Failed {
    fn from(_: io::Error) -> Self {
        Self::Lost(Lost::Unreadable)
    }
}

impl From<UndoError> for Failed {
    fn from(error: UndoError) -> Self {
        Self::Writing(error)
    }
}

/// Opens a file without following links or blocking on a pipe.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK);
    options.open(path)
}

/// Makes `to` a copy of `from` without copying its blocks. False if the file system can't.
#[cfg(target_os = "linux")]
pub(super) fn share_blocks(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn share_blocks(_: &File, _: &File) -> bool {
    false
}

/// True if a file in the folder of contents is left over from a process that is gone.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}
