//! What the model has last seen of each file, so that an edit notices when somebody else changed
//! it, and the queues that make changes to one file go one after the other. Shared by read, write
//! and edit. Knows nothing of tools; nothing here is stored.

use std::collections::HashMap;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::sync::OwnedMutexGuard;

/// Largest file whose text is kept to show later what changed.
const MAX_TEXT: usize = 256 * 1024;
/// Bytes of such texts kept in all.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// The stamps and queues of one agent. Cheap to clone; all clones speak of the same files.
#[derive(Clone, Debug, Default)]
pub struct FileStamps(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    seen: HashMap<PathBuf, Seen>,
    queues: HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>,
    clock: u64,
    text_bytes: usize,
}

/// One file as the model last saw it.
#[derive(Clone, Debug)]
struct Seen {
    stamp: Stamp,
    text: Option<Arc<[u8]>>,
    at: u64,
}

/// A file's state.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    hash: Option<u64>,
}

/// How a file stands against what the model last saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Freshness {
    /// The model has never read or written it.
    NeverSeen,
    /// As the model saw it.
    Same,
    /// Changed since; with what the model saw, where that was kept.
    Changed(Option<Arc<[u8]>>),
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

    /// Content decides where it is known: touching a file does not change it.
    fn same_as(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(a), Some(b)) => self.len == other.len && a == b,
            _ => self.len == other.len && self.modified == other.modified,
        }
    }
}

/// The hash of a file's bytes, fed in pieces of any size.
#[derive(Debug, Default)]
pub struct ContentHash(DefaultHasher);

impl ContentHash {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The hash of all bytes so far.
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }

    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::default();
        hash.update(bytes);
        hash.finish()
    }
}

impl FileStamps {
    /// Remembers that the model now knows the file at the real path `path`; `bytes` is all of it,
    /// where it is at hand.
    pub fn saw(&self, path: &Path, stamp: Stamp, bytes: Option<&[u8]>) {
        let mut inner = self.lock();
        inner.clock += 1;
        let text: Option<Arc<[u8]>> = bytes.filter(|bytes| bytes.len() <= MAX_TEXT).map(Arc::from);
        let seen = Seen {
            text: text.clone(),
            stamp,
            at: inner.clock,
        };
        inner.text_bytes += text.map_or(0, |text| text.len());
        if let Some(old) = inner.seen.insert(path.to_path_buf(), seen) {
            inner.text_bytes -= old.text.map_or(0, |text| text.len());
        }
        inner.forget_oldest_texts();
    }

    /// How the file at the real path `path`, now in state `now`, stands against what was seen.
    pub fn freshness(&self, path: &Path, now: &Stamp) -> Freshness {
        match self.lock().seen.get(path) {
            None => Freshness::NeverSeen,
            Some(seen) if seen.stamp.same_as(now) => Freshness::Same,
            Some(seen) => Freshness::Changed(seen.text.clone()),
        }
    }

    /// Waits for all earlier changes to the real path `path`. First asked, first served.
    pub async fn queue(&self, path: &Path) -> OwnedMutexGuard<()> {
        let queue = {
            let mut inner = self.lock();
            inner.queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            Arc::clone(inner.queues.entry(path.to_path_buf()).or_default())
        };
        queue.lock_owned().await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn forget_oldest_texts(&mut self) {
        while self.text_bytes > MAX_TEXTS {
            let oldest = self
                .seen
                .values_mut()
                .filter(|seen| seen.text.is_some())
                .min_by_key(|seen| seen.at);
            let Some(seen) = oldest else { return };
            self.text_bytes -= seen.text.take().map_or(0, |text| text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(hash: u64) -> Stamp {
        Stamp {
            len: 1,
            modified: None,
            hash: Some(hash),
        }
    }

    #[test]
    fn texts_kept_are_bounded_and_the_newest_survive() {
        let stamps = FileStamps::default();
        let text = vec![b'x'; MAX_TEXT];
        for number in 0..40 {
            stamps.saw(Path::new(&number.to_string()), stamp(1), Some(&text));
        }
        assert!(stamps.lock().text_bytes <= MAX_TEXTS);
        let fresh = |name| stamps.freshness(Path::new(name), &stamp(2));
        assert_eq!(fresh("0"), Freshness::Changed(None));
        assert!(matches!(fresh("39"), Freshness::Changed(Some(_))));
        assert_eq!(fresh("40"), Freshness::NeverSeen);
    }

    #[test]
    fn a_hash_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..=255).cycle().take(10_007).collect();
        let mut hash = ContentHash::default();
        for piece in bytes.chunks(13) {
            hash.update(piece);
        }
        assert_eq!(hash.finish(), ContentHash::of(&bytes));
    }
}
