//! A session's private temporary folders, in place of the shared ones: commands see them there, and
//! file tools are redirected to them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::places::Workspace;
use crate::lock::FileLock;
use crate::paths::{self, Purpose, without_dots};

/// Where they appear, and their names in the session's folder.
const PLACES: [(&str, &str); 3] = [
    ("/tmp", "tmp"),
    ("/var/tmp", "var_tmp"),
    ("/dev/shm", "shm"),
];

/// Prefix of the folder that contains them, and of others that are removed after a session was killed.
pub(crate) const PREFIX: &str = "tiller-session-";

/// The temporary folders of one session.
#[derive(Clone, Debug)]
pub struct PrivateFolders {
    parent: PathBuf,
    /// The folder, locked while it is in use; see [`Self::remove_stale`].
    _lock: Arc<FileLock>,
}

impl PartialEq for PrivateFolders {
    fn eq(&self, other: &Self) -> bool {
        self.parent == other.parent
    }
}

impl Eq for PrivateFolders {}

impl PrivateFolders {
    /// Returns a new place for them in `temporary`. Creates nothing.
    pub fn new_place(temporary: &Path) -> PathBuf {
        temporary.join(format!("{PREFIX}{}", uuid::Uuid::new_v4().simple()))
    }

    /// Removes from `temporary` the folders of killed sessions: those that no program has locked.
    pub fn remove_stale(temporary: &Path) {
        for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
            let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_own = |data: &fs::Metadata| data.uid() == nix::unistd::geteuid().as_raw();
            if !is_one || !is_folder || !entry.metadata().is_ok_and(|data| is_own(&data)) {
                continue;
            }
            let lock = File::open(entry.path()).ok();
            if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Creates them in `parent`, which belongs to the session. Only this user can access them.
    pub fn make(parent: &Path) -> io::Result<Self> {
        match fs::DirBuilder::new().mode(0o700).create(parent) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let parent = parent.canonicalize()?;
        let lock = File::open(&parent)?;
        lock.lock_shared()?;
        // Another program removed it as stale before it was locked.
        if !fs::metadata(&parent)
            .is_ok_and(|data| data.ino() == lock.metadata().map_or(0, |it| it.ino()))
        {
            return Self::make(&parent);
        }
        for (_, name) in PLACES {
            fs::create_dir_all(parent.join(name))?;
        }
        Ok(Self {
            parent,
            _lock: Arc::new(FileLock(lock)),
        })
    }

    /// The folders that replace `/tmp`, `/var/tmp` and `/dev/shm`.
    pub fn folders(&self) -> [PathBuf; 3] {
        PLACES.map(|(_, name)| self.parent.join(name))
    }

    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Maps a `path` in one of the replaced places to where it really is.
    fn behind(&self, path: &Path) -> Option<PathBuf> {
        PLACES.iter().find_map(|(place, name)| {
            let below = path.strip_prefix(place).ok()?;
            Some(self.parent.join(name).join(below))
        })
    }

    /// Maps a `path` in one of the folders to where commands see it.
    fn seen(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.parent).ok()?;
        PLACES.iter().find_map(|(place, name)| {
            let below = below.strip_prefix(name).ok()?;
            Some(Path::new(place).join(below))
        })
    }
}

impl Workspace {
    /// Like [`paths::resolve`], with the session's folders in place of the shared temporary ones.
    pub(crate) fn resolve(&self, raw: &str, cwd: &Path, purpose: Purpose) -> PathBuf {
        let written = raw.strip_prefix('@').unwrap_or(raw);
        let named = without_dots(&cwd.join(paths::expand(written)));
        let own = self.visible().into_iter().chain(self.readable.clone());
        let mut own = own.chain(self.private().map(|private| private.parent.clone()));
        let is_seen = own.any(|folder| named.starts_with(folder));
        let behind = self.private().filter(|_| !is_seen);
        let behind = behind.and_then(|private| private.behind(&named));
        match behind.as_deref().map(Path::to_str) {
            Some(Some(path)) => paths::resolve(path, cwd, purpose),
            _ => paths::resolve(raw, cwd, purpose),
        }
    }

    /// Returns the name of `path` for the model: temporary files appear where commands see them.
    pub(crate) fn named(&self, path: &Path) -> PathBuf {
        let seen = self.private().and_then(|private| private.seen(path));
        seen.unwrap_or_else(|| path.to_owned())
    }

    /// Folders that commands see in their place even if they are in a temporary folder.
    pub(super) fn visible(&self) -> Vec<PathBuf> {
        let home = self.home().into_iter().map(Path::to_owned);
        let below = |path: &PathBuf| PLACES.iter().all(|(place, _)| path != Path::new(place));
        home.chain(self.projects().iter().cloned())
            .filter(below)
            .collect()
    }
}
