//! Lists files and folders like git: skips ignored ones, includes hidden ones.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

/// Most files and folders to find.
const MAX_PATHS: usize = 2_000_000;
/// Threads that read folders.
const THREADS: usize = 2;
/// Paths a thread collects before it hands them over.
const BATCH: usize = 512;

/// The results so far: paths relative to the root; folders end with a slash.
#[derive(Debug, Default)]
pub(crate) struct Found(Mutex<Vec<String>>);

impl Found {
    pub(crate) fn count(&self) -> usize {
        self.paths(|paths| paths.len())
    }

    pub(crate) fn so_far(&self) -> Vec<String> {
        self.paths(|paths| paths.clone())
    }

    pub(crate) fn take(&self) -> Vec<String> {
        self.paths(std::mem::take)
    }

    fn add(&self, batch: &mut Vec<String>) -> usize {
        self.paths(|paths| {
            paths.append(batch);
            paths.len()
        })
    }

    fn paths<T>(&self, with: impl FnOnce(&mut Vec<String>) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Hands over the last paths when the thread ends.
struct Gathering<'a> {
    batch: Vec<String>,
    found: &'a Found,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        self.found.add(&mut self.batch);
    }
}

/// Reads all folders below `root` into `found`. Blocks until done.
pub(crate) fn walk(root: &Path, found: &Found) {
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .threads(THREADS)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    walker.run(|| {
        let mut gathering = Gathering {
            batch: Vec::with_capacity(BATCH),
            found,
        };
        let root = PathBuf::from(root);
        Box::new(move |entry| {
            let path = entry.ok().and_then(|entry| {
                let folder = entry.file_type()?.is_dir();
                let path = entry.path().strip_prefix(&root).ok()?.to_str()?;
                let named = !path.is_empty() && !path.contains('\n');
                named.then(|| {
                    if folder {
                        format!("{path}/")
                    } else {
                        path.to_owned()
                    }
                })
            });
            gathering.batch.extend(path);
            if gathering.batch.len() >= BATCH && found.add(&mut gathering.batch) >= MAX_PATHS {
                return WalkState::Quit;
            }
            WalkState::Continue
        })
    });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_git_ignores_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (path, text) in [
            (".gitignore", "target\n*.log\n"),
            (".github/ci.yml", ""),
            ("src/main.rs", ""),
            ("src/a b.rs", ""),
            ("target/main", ""),
            ("x.log", ""),
            (".git/HEAD", ""),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = Found::default();
        walk(root, &found);
        let mut paths = found.take();
        paths.sort();
        let expected = [
            ".github/",
            ".github/ci.yml",
            ".gitignore",
            "src/",
            "src/a b.rs",
            "src/main.rs",
        ];
        assert_eq!(paths, expected);
        assert_eq!(found.count(), 0);
    }
}
