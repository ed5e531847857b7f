//! All paths in one block of memory, to search on every key.
//! The lower-case paths follow one another, shallow ones first, so that one substring search finds
//! the matches. If there are few, a second search finds paths that contain the letters in order. A
//! letter mask rules most of those out without reading the path.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::thread;

use memchr::memmem::Finder;
use memchr::memrchr;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Most candidates per thread and kind. Shallow ones come first, because users want them most.
const ENOUGH: usize = 1_000;
/// From this many consecutive letters on, a match is not accidental.
const PIECE: usize = 6;
/// With fewer paths, a second thread costs more than it saves.
const ALONE: usize = 20_000;

/// The paths of a project.
#[derive(Clone, Debug, Default)]
pub struct FileIndex {
    /// In lower case, each followed by a line feed.
    text: Vec<u8>,
    /// The start of each path, plus the end of the last one.
    starts: Vec<u32>,
    /// The letters in each path.
    masks: Vec<u64>,
    /// The paths that aren't all lower case.
    spelled: HashMap<u32, Box<str>>,
}

#[derive(Default)]
struct Hits {
    /// The last part of the path contains the query.
    names: Vec<usize>,
    /// The path contains the query.
    paths: Vec<usize>,
}

impl FileIndex {
    /// Builds the index of these paths; folders end with a slash.
    pub fn new(mut paths: Vec<String>) -> Self {
        let depth = |path: &str| {
            path.trim_end_matches('/')
                .bytes()
                .filter(|b| *b == b'/')
                .count()
        };
        paths.sort_by_cached_key(|path| (depth(path), path.len()));
        let mut index = Self::default();
        index
            .text
            .reserve(paths.iter().map(|path| path.len() + 1).sum());
        for (at, path) in paths.into_iter().enumerate() {
            let lower = path.to_lowercase();
            index.starts.push(index.text.len() as u32);
            index.masks.push(mask(lower.as_bytes()));
            index.text.extend_from_slice(lower.as_bytes());
            index.text.push(b'\n');
            if lower != path {
                index.spelled.insert(at as u32, path.into_boxed_str());
            }
        }
        index.starts.push(index.text.len() as u32);
        index
    }

    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    /// The paths that match `typed` best, at most `limit`.
    pub fn search(&self, typed: &str, limit: usize) -> Vec<String> {
        let typed = typed.to_lowercase();
        if typed.is_empty() || self.is_empty() {
            let first = (0..self.len()).take(limit);
            return first.map(|at| self.path(at)).collect();
        }
        let finder = Finder::new(typed.as_bytes());
        let hits = self.in_parts(|part| self.holding(&finder, part));
        let mut ranked: Vec<_> = hits
            .iter()
            .flat_map(|hits| hits.names.iter().chain(&hits.paths))
            .map(|at| (self.rank(*at, &typed), *at))
            .collect();
        ranked.sort_unstable();
        let mut found: Vec<usize> = ranked.into_iter().map(|(_, at)| at).take(limit).collect();
        // With that many consecutive letters, the user means the name itself.
        let meant = typed.len() >= PIECE && !found.is_empty();
        if found.len() < limit && !meant {
            let scattered = self.in_parts(|part| self.scattered(&typed, &finder, part));
            let best = self.best(&typed, scattered.concat());
            let left = limit - found.len();
            found.extend(best.into_iter().take(left));
        }
        found.into_iter().map(|at| self.path(at)).collect()
    }

    /// Runs `work` on both halves in parallel.
    fn in_parts<T: Send>(&self, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let (count, half) = (self.len(), self.len() / 2);
        if count < ALONE {
            return vec![work(0..count)];
        }
        thread::scope(|scope| {
            let second = scope.spawn(|| work(half..count));
            let first = work(0..half);
            let second = second.join().ok();
            [Some(first), second].into_iter().flatten().collect()
        })
    }

    /// The paths in `part` that contain the query.
    fn holding(&self, finder: &Finder<'_>, part: Range<usize>) -> Hits {
        let mut hits = Hits::default();
        let end = self.starts[part.end] as usize;
        let mut next = part.start;
        let mut at = self.starts[part.start] as usize;
        while hits.names.len() < ENOUGH
            && let Some(found) = finder.find(&self.text[at..end])
        {
            let hit = at + found;
            let ahead =
                self.starts[next..=part.end].partition_point(|start| *start as usize <= hit);
            let path = next + ahead - 1;
            let bytes = self.bytes(path);
            if finder.find(&bytes[name_start(bytes)..]).is_some() {
                hits.names.push(path);
            } else if hits.paths.len() < ENOUGH {
                hits.paths.push(path);
            }
            next = path + 1;
            if next >= part.end {
                break;
            }
            at = self.starts[next] as usize;
        }
        hits
    }

    /// The paths in `part` that contain the letters in order, but not consecutively.
    fn scattered(&self, typed: &str, finder: &Finder<'_>, part: Range<usize>) -> Vec<usize> {
        let wanted = mask(typed.as_bytes());
        let mut found = Vec::new();
        for at in part {
            if self.masks[at] & wanted != wanted {
                continue;
            }
            let bytes = self.bytes(at);
            if holds_in_order(bytes, typed.as_bytes()) && finder.find(bytes).is_none() {
                found.push(at);
                if found.len() >= ENOUGH {
                    break;
                }
            }
        }
        found
    }

    /// The same, best first.
    fn best(&self, typed: &str, found: Vec<usize>) -> Vec<usize> {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let pattern = Pattern::new(
            typed,
            CaseMatching::Ignore,
            Normalization::Never,
            AtomKind::Fuzzy,
        );
        let mut letters = Vec::new();
        let mut scored: Vec<(Reverse<u32>, usize)> = found
            .into_iter()
            .filter_map(|at| {
                let text = std::str::from_utf8(self.bytes(at)).ok()?;
                let score = pattern.score(Utf32Str::new(text, &mut letters), &mut matcher)?;
                Some((Reverse(score), at))
            })
            .collect();
        scored.sort_unstable();
        scored.into_iter().map(|(_, at)| at).collect()
    }

    /// Rank, lower is better: how the path matches, then how much else it contains.
    fn rank(&self, at: usize, typed: &str) -> (usize, usize, usize) {
        let (path, typed) = (self.bytes(at), typed.as_bytes());
        let name = &path[name_start(path)..];
        let tier = if path == typed || name == typed {
            0
        } else if path.starts_with(typed) && typed.contains(&b'/') {
            1
        } else if name.starts_with(typed) {
            2
        } else if name.windows(typed.len()).any(|part| part == typed) {
            3
        } else {
            4
        };
        // A query with folders matches the whole path.
        let meant = if typed.contains(&b'/') { path } else { name };
        (tier, meant.len(), path.len())
    }

    fn bytes(&self, at: usize) -> &[u8] {
        &self.text[self.starts[at] as usize..self.starts[at + 1] as usize - 1]
    }

    fn path(&self, at: usize) -> String {
        match self.spelled.get(&(at as u32)) {
            Some(path) => path.to_string(),
            None => String::from_utf8_lossy(self.bytes(at)).into_owned(),
        }
    }
}

/// Where the last part of a path begins; a folder keeps its slash.
fn name_start(path: &[u8]) -> usize {
    let named = path.strip_suffix(b"/").unwrap_or(path);
    memrchr(b'/', named).map_or(0, |slash| slash + 1)
}

fn holds_in_order(text: &[u8], letters: &[u8]) -> bool {
    let mut left = letters.iter();
    let mut wanted = left.next();
    for byte in text {
        if Some(byte) == wanted {
            wanted = left.next();
        }
    }
    wanted.is_none()
}

/// One bit per letter, digit or sign.
fn mask(text: &[u8]) -> u64 {
    text.iter().fold(0, |mask, byte| mask | 1 << (byte & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(paths: &[&str]) -> FileIndex {
        FileIndex::new(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn the_best_path_comes_first() {
        let index = index(&[
            "src/",
            "src/auth/",
            "src/auth/mod.rs",
            "src/auth/token.rs",
            "src/author.rs",
            "tests/auth.rs",
            "README.md",
            "docs/Über uns.md",
        ]);
        for (typed, expected) in [
            ("", &["src/", "README.md"][..]),
            ("auth.rs", &["tests/auth.rs"]),
            ("au.rs", &["tests/auth.rs", "src/author.rs"]),
            (
                "auth",
                &[
                    "src/auth/",
                    "tests/auth.rs",
                    "src/author.rs",
                    "src/auth/mod.rs",
                ],
            ),
            ("src/au", &["src/auth/", "src/author.rs"]),
            ("readme", &["README.md"]),
            ("über", &["docs/Über uns.md"]),
            ("satok", &["src/auth/token.rs"]),
            ("nothing", &[]),
        ] {
            let found = index.search(typed, expected.len().max(1));
            assert_eq!(found, expected, "{typed}");
        }
        assert!(FileIndex::default().search("a", 9).is_empty());
    }

    #[test]
    fn halves_find_what_the_whole_finds() {
        let paths: Vec<String> = (0..ALONE + 7)
            .map(|n| format!("d{}/file_{n}.rs", n % 91))
            .collect();
        let index = FileIndex::new(paths);
        for n in [0, 9_999, 10_003, ALONE + 6] {
            let path = format!("d{}/file_{n}.rs", n % 91);
            assert_eq!(index.search(&path, 1), [path]);
        }
        assert_eq!(index.search(&format!("fl{}.rs", ALONE + 6), 1).len(), 1);
    }
}
