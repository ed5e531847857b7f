//! What the model has last seen of each file, so that an edit notices when something else changed
//! it, and the locks that make changes to one file go one after the other. Shared by read, write,
//! edit and apply_patch. Knows nothing of tools; nothing here is stored.

use std::collections::HashMap;
use std::fs::Metadata;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tokio::sync::OwnedMutexGuard;

use crate::agent::lock::lock;

/// Largest file whose text is kept to show later what changed.
pub const MAX_TEXT: usize = 256 * 1024;
/// Bytes of such texts kept in all; beyond that, all but the newest are forgotten.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// The files one agent's model has seen. Cheap to clone; all clones speak of the same files.
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
    /// All of its text, where that was kept.
    pub(super) text: Option<Arc<[u8]>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    hash: Option<u64>,
}

/// How a file stands against what the model last saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Freshness {
    NeverSeen,
    Same,
    /// Changed since the model saw it so.
    Changed(Seen),
}

impl Freshness {
    /// Whether the file holds a change that the model has not seen.
    pub fn is_changed(&self) -> bool {
        matches!(self, Self::Changed(_))
    }
}

impl Stamp {
    /// The state of a file with these data; `hash` where all its bytes were seen.
    pub fn new(meta: &Metadata, hash: Option<u64>) -> Self {
        Self {
            len: meta.len(),
            modified: meta.modified().ok(),
            hash,
        }
    }

    /// What it is told from another by: content where that is known, as in [`Self::same_as`].
    pub fn identity(&self) -> impl Hash + use<> {
        let modified = self.modified.filter(|_| self.hash.is_none());
        (self.len, self.hash, modified)
    }

    /// Content decides where it is known: touching a file does not change it.
    fn same_as(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(a), Some(b)) => self.len == other.len && a == b,
            _ => self.len == other.len && self.modified == other.modified,
        }
    }
}

/// The hash of all of a file's bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

impl SeenFiles {
    /// Records that the model now knows the file at the real path `path`; `bytes` is all of it,
    /// where it is at hand.
    pub fn record(&self, path: &Path, stamp: Stamp, bytes: Option<&[u8]>) {
        let text = bytes.filter(|bytes| bytes.len() <= MAX_TEXT).map(Arc::from);
        self.keep(path, Seen { stamp, text });
    }

    /// Records that the model knows the file at the real path `path` only as `seen`, whatever is
    /// there now.
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

    /// How the file at the real path `path`, now in state `now`, stands against what was seen.
    pub fn freshness(&self, path: &Path, now: &Stamp) -> Freshness {
        match lock(&self.inner).seen.get(path) {
            None => Freshness::NeverSeen,
            Some(seen) if seen.stamp.same_as(now) => Freshness::Same,
            Some(seen) => Freshness::Changed(seen.clone()),
        }
    }

    /// Stands for a change; the same for the same change, here only.
    pub fn fingerprint(&self, change: &impl Hash) -> u64 {
        self.fingerprints.hash_one(change)
    }

    /// Waits until all calls that asked before have their locks.
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
