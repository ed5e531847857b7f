//! What the model last saw of each file, so that an edit notices other changes. Also the locks that put
//! changes to one file in order. Shared by read, write, edit and apply_patch; stores nothing.

use std::collections::HashMap;
use std::fs::Metadata;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tokio::sync::OwnedMutexGuard;

use crate::lock::lock;

/// The largest file whose text stays in memory, to show later what changed.
pub const MAX_TEXT: usize = 256 * 1024;
/// Total bytes of such texts; beyond it only the newest stays.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// The files that one agent's model has seen. Cheap to clone; clones share their state.
#[derive(Clone, Debug, Default)]
pub struct SeenFiles {
    inner: Arc<Mutex<Inner>>,
    turns: Arc<tokio::sync::Mutex<()>>,
    fingerprints: RandomState,
}

#[derive(Debug, Default)]
struct Inner {
    seen: HashMap<PathBuf, Seen>,
    locks: HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>,
    text_bytes: usize,
}

/// One file as the model last saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    stamp: Stamp,
    /// Its whole text, if it was kept.
    pub(super) text: Option<Arc<[u8]>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    hash: Option<u64>,
}

/// How a file compares to what the model last saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Freshness {
    NeverSeen,
    Same,
    /// Changed since the model saw this.
    Changed(Seen),
}

impl Freshness {
    /// Whether the file has a change that the model hasn't seen.
    pub fn is_changed(&self) -> bool {
        matches!(self, Self::Changed(_))
    }
}

impl Stamp {
    /// The state of a file with this metadata; with a `hash` if all its bytes were seen.
    pub fn new(meta: &Metadata, hash: Option<u64>) -> Self {
        Self {
            len: meta.len(),
            modified: meta.modified().ok(),
            hash,
        }
    }

    /// Identifies the state: by content if known, as in [`Self::same_as`].
    pub fn identity(&self) -> impl Hash + use<> {
        let modified = self.modified.filter(|_| self.hash.is_none());
        (self.len, self.hash, modified)
    }

    /// Compares content if it is known: touching a file doesn't change it.
    fn same_as(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(a), Some(b)) => self.len == other.len && a == b,
            _ => self.len == other.len && self.modified == other.modified,
        }
    }
}

pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

impl SeenFiles {
    /// Records that the model knows the file at the real path `path`, with its `bytes` if at hand.
    pub fn record(&self, path: &Path, stamp: Stamp, bytes: Option<&[u8]>) {
        let text = bytes.filter(|bytes| bytes.len() <= MAX_TEXT).map(Arc::from);
        self.keep(path, Seen { stamp, text });
    }

    /// Records that the model knows the file at the real path `path` only as `seen`.
    pub fn keep(&self, path: &Path, seen: Seen) {
        let mut inner = lock(&self.inner);
        let size = seen.text.as_ref().map_or(0, |text| text.len());
        inner.text_bytes += size;
        if inner.text_bytes > MAX_TEXTS {
            for seen in inner.seen.values_mut() {
                seen.text = None;
            }
            inner.text_bytes = size;
        }
        let before = inner.seen.insert(path.to_path_buf(), seen);
        let forgotten = before.and_then(|seen| seen.text);
        inner.text_bytes -= forgotten.map_or(0, |text| text.len());
    }

    /// Compares the file at the real path `path`, now in state `now`, with what the model saw.
    pub fn freshness(&self, path: &Path, now: &Stamp) -> Freshness {
        match lock(&self.inner).seen.get(path) {
            None => Freshness::NeverSeen,
            Some(seen) if seen.stamp.same_as(now) => Freshness::Same,
            Some(seen) => Freshness::Changed(seen.clone()),
        }
    }

    /// Identifies a change: equal for equal changes, within this process.
    pub fn fingerprint(&self, change: &impl Hash) -> u64 {
        self.fingerprints.hash_one(change)
    }

    /// Waits until all earlier calls have their locks.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turns).lock_owned().await
    }

    /// Waits for all earlier changes to the real path `path`. First asked, first served.
    pub async fn lock(&self, path: &Path) -> OwnedMutexGuard<()> {
        let lock = {
            let mut inner = lock(&self.inner);
            inner.locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(inner.locks.entry(path.to_path_buf()).or_default())
        };
        lock.lock_owned().await
    }
}
