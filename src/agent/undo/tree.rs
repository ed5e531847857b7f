//! A scanned tree: every path that git doesn't ignore, with its state and stamp, by folder. Parts
//! unchanged between two scans share memory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::state::Lost;
use crate::stamp::Stamp;
use crate::stored_path;
use crate::tools::Rules;

/// Changes this close together may be indistinguishable.
const TICK: Duration = Duration::from_millis(20);

/// Identifies the format of its file; other versions have other trees.
const MAGIC: &[u8] = b"tiller tree 3\n";

/// Its serde format is that of its file, from which an interrupted turn is completed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tree {
    #[serde(with = "stored_path")]
    pub root: PathBuf,
    /// Sorted by path.
    pub folders: Vec<Arc<Folder>>,
    pub is_whole: bool,
    /// When it was scanned, by the file system's clock.
    pub taken: SystemTime,
    /// Ignore files outside the tree, as of the scan.
    #[serde(skip)]
    pub rule_files: Vec<Option<Stamp>>,
    /// The indexes of its repositories when covered; `None` if a tracked file was or is missing.
    #[serde(skip)]
    pub indexes: Option<Vec<Option<Stamp>>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Folder {
    /// Relative to the root.
    #[serde(with = "stored_path")]
    pub path: PathBuf,
    /// Sorted by name.
    pub entries: Vec<Seen>,
    /// Whether it is the top of a repository.
    #[serde(skip)]
    pub is_top: bool,
    /// Whether git ignores it; then it lists only tracked files.
    #[serde(skip)]
    pub is_ignored: bool,
    #[serde(skip)]
    pub rules: Rules,
    /// The ignore files in it, as of the scan.
    #[serde(skip)]
    pub rule_files: [Option<Stamp>; 2],
}

/// One path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    #[serde(with = "stored_path")]
    pub name: OsString,
    pub stamp: Stamp,
    pub kind: Kind,
}

/// The state of a path, and where a file's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    File(Image),
    Link(#[serde(with = "stored_path")] PathBuf),
    Folder,
    Special,
}

/// Where a file's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Image {
    Unknown,
    /// In a repository: its git folder and the blob id.
    Blob(#[serde(with = "stored_path")] Arc<Path>, Box<[u8]>),
    /// In the store.
    Kept(String),
    Lost(Lost),
}

impl Tree {
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        postcard::to_extend(self, MAGIC.to_vec()).map_err(io::Error::other)
    }

    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let tree = bytes.strip_prefix(MAGIC).map(postcard::from_bytes);
        let tree = tree.ok_or(io::ErrorKind::InvalidData)?;
        tree.map_err(io::Error::other)
    }

    /// The index of the folder at `path`, relative to the root.
    pub fn place_of(&self, path: &Path) -> Option<usize> {
        let found = self
            .folders
            .binary_search_by(|folder| order(&folder.path, path));
        found.ok()
    }

    pub fn folder(&self, path: &Path) -> Option<&Arc<Folder>> {
        self.place_of(path).and_then(|at| self.folders.get(at))
    }

    /// True if nothing from an earlier scan is missing.
    pub fn has_all_of(&self, former: &Self) -> bool {
        former.folders.iter().all(|before| {
            let now = self.folder(&before.path);
            now.is_some_and(|now| {
                let has = |seen: &Seen| now.place_of(&seen.name).is_ok();
                Arc::ptr_eq(now, before) || before.entries.iter().all(has)
            })
        })
    }

    pub fn get(&self, path: &Path) -> Option<&Seen> {
        let folder = self.folder(path.parent()?)?;
        folder.get(path.file_name()?)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&Folder, &Seen)> {
        let folders = self.folders.iter();
        folders.flat_map(|folder| folder.entries.iter().map(move |seen| (&**folder, seen)))
    }

    /// The full path of an entry in one of its folders.
    pub fn whole(&self, folder: &Folder, seen: &Seen) -> PathBuf {
        // Avoids two joins, because there may be many.
        let mut path = PathBuf::with_capacity(
            self.root.as_os_str().len() + folder.path.as_os_str().len() + seen.name.len() + 2,
        );
        path.push(&self.root);
        path.push(&folder.path);
        path.push(&seen.name);
        path
    }

    /// True if the file at `path` was seen under another name.
    pub fn has_file_of(&self, path: &Path) -> bool {
        let inode = fs::symlink_metadata(path).map(|meta| Stamp::of(&meta).inode);
        inode.is_ok_and(|inode| self.entries().any(|(_, seen)| seen.stamp.inode == inode))
    }

    /// True if a change right after the scan could leave this stamp unchanged.
    pub fn is_fresh(&self, stamp: &Stamp) -> bool {
        let (seconds, nanos) = stamp.changed;
        let changed = Duration::new(seconds.max(0) as u64, nanos);
        let taken = self.taken.duration_since(SystemTime::UNIX_EPOCH);
        taken.is_ok_and(|taken| changed + TICK >= taken)
    }
}

/// The current time as file stamps have it, which lags the clock by up to a tick.
#[cfg(target_os = "linux")]
pub(super) fn file_time() -> SystemTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let (seconds, nanos) = (now.tv_sec.max(0) as u64, now.tv_nsec as u32);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn file_time() -> SystemTime {
    SystemTime::now()
}

pub(super) fn order(a: &Path, b: &Path) -> std::cmp::Ordering {
    a.as_os_str().cmp(b.as_os_str())
}

impl Folder {
    /// The position of `name` among the entries, or where it would be.
    pub fn place_of(&self, name: &OsStr) -> Result<usize, usize> {
        (self.entries).binary_search_by(|seen| seen.name.as_os_str().cmp(name))
    }

    pub fn get(&self, name: &OsStr) -> Option<&Seen> {
        self.place_of(name).ok().map(|at| &self.entries[at])
    }
}

impl Seen {
    pub fn new(name: OsString, whole: &Path, meta: &Metadata) -> Option<Self> {
        let kind = meta.file_type();
        let stamp = Stamp::of(meta);
        let (kind, stamp) = if kind.is_file() {
            (Kind::File(Image::Unknown), stamp)
        } else if kind.is_dir() {
            (Kind::Folder, stamp.of_folder())
        } else if kind.is_symlink() {
            (Kind::Link(fs::read_link(whole).ok()?), stamp)
        } else {
            (Kind::Special, stamp)
        };
        Some(Self { name, stamp, kind })
    }

    /// True if covering the file may still succeed, because there may be space by now.
    pub fn is_open(&self) -> bool {
        matches!(
            self.kind,
            Kind::File(Image::Unknown | Image::Lost(Lost::TooMuch | Lost::Changing))
        )
    }
}
