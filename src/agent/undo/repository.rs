//! What a user's repository has of the files in its working tree. Only reads it: tiller parses the
//! index, and asks git for contents and attributes without taking a lock.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::git_index::{self, Tracked};
use super::tree::Tree;
use crate::git::{Git, GitError, GitFolders, git_folders};
use crate::hash;
use crate::stamp::Stamp;
use tiller_llm::read_small::read_plain;

/// Attributes that make a file differ from git's content in more than line ends.
const CONVERTING: [&str; 3] = ["filter", "ident", "working-tree-encoding"];
/// Larger attribute or settings files are ignored.
const MAX_TEXT: u64 = 1 << 20;

/// A larger index is ignored; at about 100 bytes per entry, this allows millions of files.
const MAX_INDEX: u64 = 1 << 30;

/// A repository whose working tree is in a tree.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top of its working tree, relative to the tree's root.
    pub below: PathBuf,
    /// Where its contents are.
    pub common_dir: PathBuf,
    git_dir: PathBuf,
    index_modified: (i64, u32),
    /// Sorted by path.
    pub tracked: Vec<Tracked>,
}

impl Repository {
    /// The repository with its top at `below` in `tree`; `None` if unreadable.
    pub fn read(tree: &Tree, below: &Path) -> Option<Self> {
        let top = tree.root.join(below);
        let GitFolders {
            own: git_dir,
            common: common_dir,
        } = git_folders(&top)?;
        let config = read_small(&common_dir.join("config"))?;
        let config = String::from_utf8_lossy(&config).to_lowercase();
        let is_sha256 = config.contains("objectformat") && config.contains("sha256");
        let id_len = if is_sha256 { 32 } else { 20 };
        let index = git_dir.join("index");
        let meta = fs::metadata(&index).ok()?;
        let tracked = git_index::read(&read_plain(&index, MAX_INDEX).ok()?, id_len)?;
        Some(Self {
            below: below.to_owned(),
            common_dir,
            git_dir,
            index_modified: (meta.mtime(), meta.mtime_nsec() as u32),
            tracked,
        })
    }

    /// True if git has exactly these bytes: unchanged since git checked, and not just then.
    pub fn is_clean(&self, tracked: &Tracked, stamp: &Stamp) -> bool {
        let same = |(seconds, nanos): (u32, u32), of: (i64, u32)| {
            // Some programs omit fractions of a second.
            i64::from(seconds) == of.0 && (nanos == of.1 || nanos == 0)
        };
        let (seconds, nanos) = tracked.modified;
        tracked.is_file
            && tracked.size == stamp.size as u32
            && tracked.inode == stamp.inode as u32
            && same(tracked.modified, stamp.modified)
            && same(tracked.changed, stamp.changed)
            && (i64::from(seconds), nanos) < self.index_modified
    }

    /// The paths in `asked`, relative to its top, that git converts in more than line ends.
    pub fn converted<'p>(
        &self,
        tree: &Tree,
        asked: impl Iterator<Item = &'p [u8]>,
    ) -> HashSet<Box<[u8]>> {
        let mut paths = Vec::new();
        for path in asked {
            paths.extend_from_slice(path);
            paths.push(0);
        }
        if paths.is_empty() || !self.may_convert(tree) {
            return HashSet::new();
        }
        let top = tree.root.join(&self.below);
        let git = Git::within(&top)
            .with("GIT_DIR", &self.git_dir)
            .with("GIT_WORK_TREE", &top);
        let mut arguments = vec!["check-attr", "-z", "--stdin"];
        arguments.extend(CONVERTING);
        let read = |out: BufReader<_>| out.bytes().collect::<io::Result<Vec<u8>>>();
        let Ok(said) = git.converse(&arguments, &paths, read) else {
            // Then nothing is certain.
            let asked = paths.split(|byte| *byte == 0);
            return asked.map(Box::from).collect();
        };
        let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
        let converts = |value: &[u8]| !matches!(value, b"unspecified" | b"unset");
        let converted = fields.chunks_exact(3);
        converted
            .filter(|field| converts(field[2]))
            .map(|field| Box::from(field[0]))
            .collect()
    }

    /// True if any attributes file mentions them.
    fn may_convert(&self, tree: &Tree) -> bool {
        let speaks = |path: &Path, words: &[&str]| {
            let text = read_small(path).map(|text| String::from_utf8_lossy(&text).to_lowercase());
            text.is_some_and(|text| words.iter().any(|word| text.contains(word)))
        };
        let attributes = OsStr::new(".gitattributes");
        let own = tree.folders.iter().any(|folder| {
            folder.path.starts_with(&self.below)
                && folder.get(attributes).is_some()
                && speaks(&tree.root.join(&folder.path).join(attributes), &CONVERTING)
        });
        let home = std::env::home_dir().unwrap_or_default();
        let config = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home.join(".config"));
        let elsewhere = [
            self.common_dir.join("info/attributes"),
            config.join("git/attributes"),
            PathBuf::from("/etc/gitattributes"),
        ];
        let settings = [
            self.common_dir.join("config"),
            config.join("git/config"),
            home.join(".gitconfig"),
            PathBuf::from("/etc/gitconfig"),
        ];
        own || elsewhere.iter().any(|path| speaks(path, &CONVERTING))
            || (settings.iter()).any(|path| speaks(path, &["attributesfile"]))
    }
}

/// True if git ignores the path; always false outside a repository.
pub(super) fn is_ignored(root: &Path, path: &Path) -> bool {
    let asked = ["check-ignore", "--quiet", "--no-index", "--"];
    let mut arguments: Vec<&OsStr> = asked.iter().map(AsRef::as_ref).collect();
    arguments.push(path.as_os_str());
    Git::within(root).run(&arguments).is_ok()
}

/// Reads contents from the repository at `common_dir`, if it has them.
pub(super) fn read_blobs<'i>(
    common_dir: &Path,
    ids: impl Iterator<Item = &'i str>,
    mut take: impl FnMut(&str, Vec<u8>),
) {
    let ids: Vec<&str> = ids.collect();
    let git = Git::within(common_dir).with("GIT_DIR", common_dir);
    let read = git.blobs(&ids, |index, bytes| {
        if let Some(bytes) = bytes {
            take(ids[index], bytes);
        }
        Ok::<_, GitError>(())
    });
    if let Err(error) = read {
        tracing::warn!("undo: {error}");
    }
}

/// When the index of the repository at `top` was written.
pub(super) fn index_stamp(top: &Path) -> Option<Stamp> {
    let index = git_folders(top)?.own.join("index");
    fs::metadata(index).ok().map(|meta| Stamp::of(&meta))
}

fn read_small(path: &Path) -> Option<Vec<u8>> {
    read_plain(path, MAX_TEXT).ok()
}

/// True if the file at `path` has the content with the blob id `id`.
pub(super) fn holds(path: &Path, size: u64, id: &[u8]) -> bool {
    let opened = super::store::open_file(path);
    opened.is_ok_and(|mut file| hash::of_blob(&mut file, size, id.len()).is_ok_and(|it| it == id))
}
