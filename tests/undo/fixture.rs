//! A repository with an undo store, and pictures of folders to compare.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the names are those of this test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tiller::agent::undo::{Covered, Direction, Kept, Undo};

/// A repository and its undo store.
pub struct Place {
    pub root: PathBuf,
    pub home: PathBuf,
    pub undo: Undo,
    /// The turns so far.
    pub turns: Vec<String>,
    _folder: TempDir,
}

pub const QUOTA: u64 = 8 << 20;

impl Place {
    /// A folder with these files that isn't a repository.
    pub fn plain(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (root, home) = (path.join("shop"), path.join("data/undo"));
        fs::create_dir(&root).unwrap();
        let place = Self {
            undo: Undo::new(home.clone(), QUOTA),
            root,
            home,
            turns: Vec::new(),
            _folder: folder,
        };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// A repository with these files in its only commit.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::plain(files);
        git(&place.root, &["init", "-q", "-b", "main"]);
        commit(&place.root);
        place
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// A turn that does `work` in one command.
    pub fn command(&mut self, prompt: &str, work: impl FnOnce(&Self)) -> Covered {
        self.undo.prompt("session", prompt);
        let covered = self.undo.before_command(&self.root).unwrap();
        self.turns.extend(covered.begun.clone());
        work(self);
        self.undo.close().unwrap();
        covered
    }

    /// A turn whose tools write these files by name.
    pub fn writes(&mut self, prompt: &str, files: &[(&str, &str)]) {
        self.undo.prompt("session", prompt);
        for (path, text) in files {
            let paths = [self.root.join(path)];
            let covered = self.undo.before_write(&self.root, &paths).unwrap();
            self.turns.extend(covered.begun);
            self.write(path, text);
        }
        self.undo.close().unwrap();
    }

    /// Undoes or redoes the next turn, or returns none if there is none.
    pub fn go(&self, direction: Direction) -> Option<Vec<Kept>> {
        let preview = self.undo.preview(&self.turns, direction).unwrap()?;
        let outcome = self.undo.go(&self.turns, direction, &preview.turn);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.kept, preview.kept);
        assert_eq!(outcome.failed, []);
        Some(outcome.kept)
    }

    /// Another program that continues from what this one left.
    pub fn restart(&mut self) {
        self.undo = Undo::new(self.home.clone(), QUOTA);
    }

    /// The number of bytes of all stored contents.
    pub fn kept_bytes(&self) -> u64 {
        let mut sum = 0;
        let mut open = vec![self.home.join("objects")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    open.push(entry.path());
                } else {
                    sum += meta.len();
                }
            }
        }
        sum
    }
}

/// Every path below `root`, with type, mode and content, except files below a `.git` and `.log`
/// files.
pub fn picture(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if name.ends_with(".git") || name.ends_with(".log") {
                continue;
            }
            let meta = entry.metadata().unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let what = if meta.is_dir() {
                open.push(path);
                format!("folder {mode:o}")
            } else if meta.is_symlink() {
                format!("link {}", fs::read_link(&path).unwrap().display())
            } else {
                let bytes = fs::read(&path).unwrap();
                format!("file {mode:o} {}", String::from_utf8_lossy(&bytes))
            };
            found.insert(name, what);
        }
    }
    found
}

/// All files of the repository's own `.git`, byte by byte.
pub fn git_picture(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.join(".git")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .map(Result::unwrap)
        {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else {
                drop(found.insert(path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// True if the git command succeeded.
pub fn git(root: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    git.output().unwrap().status.success()
}

pub fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "x"]);
}
