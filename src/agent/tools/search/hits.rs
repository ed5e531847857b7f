//! The first hits of a search in sorted order. It holds no more than can be shown, which bounds the
//! memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use super::budget::Limits;

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The text to show.
    pub text: String,
    /// A match, or else context of one.
    pub is_match: bool,
    /// Control bytes were replaced.
    pub escaped: bool,
}

impl From<String> for Line {
    fn from(name: String) -> Self {
        Self {
            text: name,
            is_match: true,
            escaped: false,
        }
    }
}

/// The hits for one key: the matching lines of a file, or a name.
#[derive(Clone, Debug, Default)]
pub struct Hit {
    /// The lines, in the order of the file; none for a name.
    pub lines: Vec<Line>,
    /// Matches among them.
    pub matches: usize,
    /// Bytes of their texts, line ends included.
    pub bytes: usize,
}

impl Hit {
    /// The hit for a bare name.
    pub fn name(name: &str) -> Self {
        Self {
            lines: Vec::new(),
            matches: 1,
            bytes: name.len() + 1,
        }
    }

    pub fn push(&mut self, line: Line) {
        self.matches += usize::from(line.is_match);
        self.bytes += line.text.len() + 1;
        self.lines.push(line);
    }
}

/// The hits with the smallest keys. A hit is dropped once the ones before it are enough.
pub struct Hits<K = String> {
    limits: Limits,
    kept: RwLock<Kept<K>>,
    /// Whether there are enough hits: checked for each path, mostly without the lock.
    is_full: AtomicBool,
}

struct Kept<K> {
    hits: BTreeMap<K, Hit>,
    matches: usize,
    bytes: usize,
}

impl<K: Ord> Hits<K> {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            kept: RwLock::new(Kept {
                hits: BTreeMap::new(),
                matches: 0,
                bytes: 0,
            }),
            is_full: AtomicBool::new(false),
        }
    }

    /// Whether this many hits are too many to show. One more is held, to know that there are more.
    pub fn enough(&self, matches: usize, bytes: usize) -> bool {
        matches > self.limits.count || bytes > self.limits.max_bytes + 1
    }

    /// Adds a hit and drops hits that can no longer be shown.
    pub fn add(&self, key: K, hit: Hit) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.matches += hit.matches;
        kept.bytes += hit.bytes;
        // Two names that are not UTF-8 may look the same.
        let held = kept.hits.entry(key).or_default();
        held.matches += hit.matches;
        held.bytes += hit.bytes;
        held.lines.extend(hit.lines);
        while let Some(last) = kept.hits.last_entry() {
            let (matches, bytes) = (last.get().matches, last.get().bytes);
            if !self.enough(kept.matches - matches, kept.bytes - bytes) {
                break;
            }
            kept.hits.pop_last();
            kept.matches -= matches;
            kept.bytes -= bytes;
        }
        let is_full = self.enough(kept.matches, kept.bytes);
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    pub fn into_sorted(self) -> impl Iterator<Item = (K, Hit)> {
        let kept = self.kept.into_inner();
        kept.unwrap_or_else(PoisonError::into_inner)
            .hits
            .into_iter()
    }
}

impl Hits {
    /// Whether `path` (and, for a folder ending in `/`, everything below it) sorts too late to be shown.
    pub fn is_beyond(&self, path: &str) -> bool {
        if !self.is_full.load(Ordering::Relaxed) {
            return false;
        }
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let cutoff = kept.hits.last_key_value();
        cutoff.is_some_and(|(cutoff, _)| path > cutoff.as_str())
    }
}
