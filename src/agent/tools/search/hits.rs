//! The best hits of a search so far: those in the smallest paths, and no more than can be shown.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::walk::Horizon;

/// A result line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// As it is shown.
    pub text: String,
    /// A match; else context of one.
    pub is_match: bool,
}

/// The hits in one file.
#[derive(Clone, Debug, Default)]
pub struct FileHits {
    /// In the order of the file.
    pub lines: Vec<Line>,
    /// Matches among them.
    pub matches: usize,
    /// Bytes of their texts, line ends included.
    pub bytes: usize,
}

impl FileHits {
    /// Adds a line.
    pub fn push(&mut self, text: String, is_match: bool) {
        self.matches += usize::from(is_match);
        self.bytes += text.len() + 1;
        self.lines.push(Line { text, is_match });
    }
}

/// The hits of all files, bounded: a file is dropped once those before it are enough.
pub struct Hits {
    /// Matches that can be shown.
    pub limit: usize,
    /// Bytes that can be shown.
    pub max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: BTreeMap<String, FileHits>,
    matches: usize,
    bytes: usize,
}

impl Hits {
    /// None yet.
    pub fn new(limit: usize, max_bytes: usize) -> Self {
        Self {
            limit,
            max_bytes,
            kept: Mutex::default(),
        }
    }

    /// Whether so many hits are already more than can be shown. One more than the limit is kept,
    /// to know that there are more.
    pub fn enough(&self, matches: usize, bytes: usize) -> bool {
        matches > self.limit || bytes > self.max_bytes
    }

    /// Adds a file's hits, drops what is now too far back, and moves the horizon.
    pub fn add(&self, path: String, hits: FileHits, horizon: &Horizon) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.matches += hits.matches;
        kept.bytes += hits.bytes;
        // Two names that are not UTF-8 may look the same.
        let file = kept.files.entry(path).or_default();
        file.matches += hits.matches;
        file.bytes += hits.bytes;
        file.lines.extend(hits.lines);
        while let Some(last) = kept.files.last_entry() {
            let (matches, bytes) = (last.get().matches, last.get().bytes);
            if !self.enough(kept.matches - matches, kept.bytes - bytes) {
                break;
            }
            kept.files.pop_last();
            kept.matches -= matches;
            kept.bytes -= bytes;
        }
        if self.enough(kept.matches, kept.bytes)
            && let Some((path, _)) = kept.files.last_key_value()
        {
            horizon.set(path);
        }
    }

    /// The lines to show, matches among them, and whether there are matches beyond the limit.
    /// `context` is the number of lines wanted after a match.
    pub fn lines(self, context: usize) -> (Vec<Line>, bool) {
        let kept = self
            .kept
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<Line> = Vec::new();
        let (mut matches, mut last) = (0, 0);
        for line in kept.files.into_values().flat_map(|hits| hits.lines) {
            if line.is_match {
                if matches == self.limit {
                    // Context before a match that is not shown.
                    lines.truncate(last + context);
                    return (lines, true);
                }
                matches += 1;
                last = lines.len() + 1;
            }
            lines.push(line);
        }
        (lines, false)
    }
}
