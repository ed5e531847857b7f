//! A tree as it stands: every path below a folder that git does not ignore, with what it is and when
//! it was touched last. No file is opened.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::state::{Lost, Stamp};
use crate::agent::tools::{Entry, walk_unignored};

/// Longer than this nothing is waited for.
const SECONDS: u64 = 5;
/// Two changes this close to one another may look like one.
const TICK: Duration = Duration::from_millis(20);

/// A tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub root: PathBuf,
    /// Sorted by the bytes of their paths.
    pub entries: Vec<Seen>,
    /// Folders below the root (or the root itself, with an empty path) that are tops of
    /// repositories.
    pub repositories: Vec<PathBuf>,
    /// Whether that is all.
    pub is_whole: bool,
    /// When it was looked at, by the clock of files.
    pub taken: SystemTime,
}

/// One path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Below the root.
    pub path: PathBuf,
    pub stamp: Stamp,
    pub kind: Kind,
}

/// What stands at a path, and where a file's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File(Image),
    Link(PathBuf),
    Folder,
    Special,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Image {
    /// Nobody has asked yet.
    Unknown,
    /// A repository has them: its git folder, and how git names them.
    Blob(Arc<Path>, Vec<u8>),
    /// The store has them.
    Kept(String),
    /// Nobody has.
    Lost(Lost),
}

impl Tree {
    /// Looks at the tree below `root`, without what is below `own`, the folder of the program's data:
    /// that changes all the time.
    pub fn look(root: &Path, own: &Path) -> Self {
        let taken = file_time();
        let found = Mutex::new((Vec::new(), Vec::new()));
        let is_whole = walk_unignored(root, SECONDS, || {
            Visitor {
                root,
                found: &found,
                entries: Vec::new(),
                repositories: Vec::new(),
            }
            .visit()
        });
        let (mut entries, mut repositories) =
            found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if root.join(".git").symlink_metadata().is_ok() {
            repositories.push(PathBuf::new());
        }
        if let Ok(own) = own.strip_prefix(root) {
            entries.retain(|seen: &Seen| !seen.path.starts_with(own));
        }
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        repositories.sort_by_key(|path| bytes(path));
        entries.sort_unstable_by(|a: &Seen, b: &Seen| order(&a.path, &b.path));
        Self {
            root: root.to_owned(),
            entries,
            repositories,
            is_whole,
            taken,
        }
    }

    /// What was seen at `path` below the root.
    pub fn get(&self, path: &Path) -> Option<&Seen> {
        let at = self
            .entries
            .binary_search_by(|seen| order(&seen.path, path));
        at.ok().and_then(|at| self.entries.get(at))
    }

    /// Whether the file at `path` was seen under another name.
    pub fn has_file_of(&self, path: &Path) -> bool {
        let inode = fs::symlink_metadata(path).map(|meta| Stamp::of(&meta).inode);
        inode.is_ok_and(|inode| self.entries.iter().any(|seen| seen.stamp.inode == inode))
    }

    /// Whether a change right after the look may have left this stamp as it is.
    pub fn is_fresh(&self, stamp: &Stamp) -> bool {
        let (seconds, nanos) = stamp.changed;
        let changed = Duration::new(seconds.max(0) as u64, nanos);
        let taken = self.taken.duration_since(SystemTime::UNIX_EPOCH);
        taken.is_ok_and(|taken| changed + TICK >= taken)
    }
}

/// Now, as files are stamped: behind the clock by up to a tick.
#[cfg(target_os = "linux")]
fn file_time() -> SystemTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let (seconds, nanos) = (now.tv_sec.max(0) as u64, now.tv_nsec as u32);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos)
}

#[cfg(not(target_os = "linux"))]
fn file_time() -> SystemTime {
    SystemTime::now()
}

/// The order of entries.
pub(super) fn order(a: &Path, b: &Path) -> std::cmp::Ordering {
    a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes())
}

impl Seen {
    /// What is at `path`, which is `whole`, with these data.
    pub fn new(path: PathBuf, whole: &Path, meta: &Metadata) -> Option<Self> {
        let kind = meta.file_type();
        let kind = if kind.is_file() {
            Kind::File(Image::Unknown)
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Link(fs::read_link(whole).ok()?)
        } else {
            Kind::Special
        };
        Some(Self {
            path,
            stamp: Stamp::of(meta),
            kind,
        })
    }
}

/// Collects what one thread sees.
struct Visitor<'v> {
    root: &'v Path,
    found: &'v Mutex<(Vec<Seen>, Vec<PathBuf>)>,
    entries: Vec<Seen>,
    repositories: Vec<PathBuf>,
}

impl<'v> Visitor<'v> {
    fn visit(mut self) -> impl FnMut(Entry) + 'v {
        move |entry| self.see(&entry.path)
    }

    fn see(&mut self, whole: &Path) {
        let Ok(path) = whole.strip_prefix(self.root) else {
            return;
        };
        let Ok(meta) = fs::symlink_metadata(whole) else {
            return;
        };
        if meta.is_dir() && whole.join(".git").symlink_metadata().is_ok() {
            self.repositories.push(path.to_owned());
        }
        self.entries
            .extend(Seen::new(path.to_owned(), whole, &meta));
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.0.append(&mut self.entries);
        found.1.append(&mut self.repositories);
    }
}
