//! Sees to it that every file of a tree can be brought back, whatever a command does to it: git has
//! it, or the store gets a copy. What cannot be covered is named.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::error::UndoError;
use super::hash::hex;
use super::repository::{Repository, holds};
use super::state::{Lost, Stamp};
use super::store::Store;
use super::tree::{Image, Kind, Seen, Tree, order};
use crate::agent::trial::{Found, Looker, stays_within};

/// How much may be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files of a tree together.
    pub tree: u64,
}

/// Where the bytes of files are that were copied or compared before, each with the stamp it had.
#[derive(Debug, Default)]
pub(super) struct Copies(HashMap<PathBuf, (Stamp, Image)>);

impl Copies {
    fn get(&self, path: &Path, stamp: &Stamp, store: &Store) -> Option<Image> {
        let (known, image) = self.0.get(path)?;
        let is_there = match image {
            Image::Kept(hash) => store.has(hash, stamp.size),
            _ => true,
        };
        (known == stamp && is_there).then(|| image.clone())
    }
}

/// Fills in where the bytes of all files of `tree` are but those in `covered`. Copies only what
/// was touched since it is in `copies`, small files first.
pub(super) fn cover(
    tree: &mut Tree,
    store: &Store,
    copies: &mut Copies,
    covered: &HashSet<PathBuf>,
    limits: Limits,
) -> Result<(), UndoError> {
    let repositories: Vec<Repository> = (tree.repositories.iter())
        .filter_map(|below| Repository::read(tree, below))
        .collect();
    for repository in &repositories {
        add_ignored(tree, repository);
    }
    let mut dirty: HashMap<usize, (Arc<Path>, Vec<u8>)> = HashMap::new();
    for repository in &repositories {
        take_clean(tree, repository, &mut dirty);
    }
    let mut open: Vec<usize> = (0..tree.entries.len())
        .filter(|at| tree.entries[*at].kind == Kind::File(Image::Unknown))
        .collect();
    open.sort_by_key(|at| tree.entries[*at].stamp.size);
    let mut taken = 0;
    for at in open {
        let seen = &mut tree.entries[at];
        let whole = tree.root.join(&seen.path);
        if covered.contains(&whole) {
            continue;
        }
        let known = copies.get(&whole, &seen.stamp, store);
        let image = match known {
            Some(image) => image,
            None => copy(seen, &whole, dirty.get(&at), store, limits, taken)?,
        };
        if matches!(image, Image::Kept(_)) {
            taken += seen.stamp.size;
        }
        if !is_fresh(&seen.stamp) && !matches!(image, Image::Lost(_)) {
            copies.0.insert(whole, (seen.stamp, image.clone()));
        }
        seen.kind = Kind::File(image);
    }
    Ok(())
}

fn copy(
    seen: &mut Seen,
    whole: &Path,
    dirty: Option<&(Arc<Path>, Vec<u8>)>,
    store: &Store,
    limits: Limits,
    taken: u64,
) -> Result<Image, UndoError> {
    let size = seen.stamp.size;
    if let Some((git_dir, id)) = dirty
        && holds(whole, size, id)
    {
        return Ok(Image::Blob(Arc::clone(git_dir), id.clone()));
    }
    if size > limits.file {
        return Ok(Image::Lost(Lost::TooLarge));
    }
    if taken + size > limits.tree {
        return Ok(Image::Lost(Lost::TooMuch));
    }
    Ok(match store.keep_file(whole)? {
        Ok((hash, stamp)) => {
            seen.stamp = stamp;
            Image::Kept(hash)
        }
        Err(lost) => Image::Lost(lost),
    })
}

/// Whether the file was touched a moment ago, so that another change may not show.
fn is_fresh(stamp: &Stamp) -> bool {
    let now = Tree {
        root: PathBuf::new(),
        entries: Vec::new(),
        repositories: Vec::new(),
        is_whole: true,
        taken: SystemTime::now(),
    };
    now.is_fresh(stamp)
}

/// Adds the files that git tracks although it ignores them.
fn add_ignored(tree: &mut Tree, repository: &Repository) {
    let mut missing = Vec::new();
    let mut seen = entries_below(tree, &repository.below).peekable();
    for tracked in &repository.tracked {
        while seen.next_if(|(path, _)| *path < &*tracked.path).is_some() {}
        let is_there = seen.peek().is_some_and(|(path, _)| *path == tracked.path);
        if !is_there && tracked.is_file {
            let path = Path::new(OsStr::from_bytes(&tracked.path));
            missing.extend(stays_within(path).then(|| repository.below.join(path)));
        }
    }
    drop(seen);
    let root = tree.root.clone();
    let mut looker = Looker::new(&root);
    let found = missing.into_iter().filter_map(|path| {
        let whole = root.join(&path);
        match looker.look(&path) {
            Ok(Found::File(meta)) => Seen::new(path, &whole, &meta),
            _ => None,
        }
    });
    let before = tree.entries.len();
    tree.entries.extend(found);
    if tree.entries.len() > before {
        tree.entries
            .sort_unstable_by(|a, b| order(&a.path, &b.path));
        tree.entries.dedup_by(|a, b| a.path == b.path);
    }
}

/// Names the content of the files that git has as they stand there. Those that it tracks and that
/// may be the same go into `dirty`.
fn take_clean(
    tree: &mut Tree,
    repository: &Repository,
    dirty: &mut HashMap<usize, (Arc<Path>, Vec<u8>)>,
) {
    let converted = repository.converted(tree);
    let git_dir: Arc<Path> = Arc::from(&*repository.common_dir);
    let mut clean = Vec::new();
    {
        let mut seen = entries_below(tree, &repository.below).peekable();
        for tracked in &repository.tracked {
            while seen.next_if(|(path, _)| *path < &*tracked.path).is_some() {}
            let Some((_, at)) = seen.next_if(|(path, _)| *path == tracked.path) else {
                continue;
            };
            if !tracked.is_file || converted.contains(&tracked.path) {
                continue;
            }
            let content = (Arc::clone(&git_dir), tracked.id.clone());
            if repository.is_clean(tracked, &tree.entries[at].stamp) {
                clean.push((at, content));
            } else {
                dirty.insert(at, content);
            }
        }
    }
    for (at, (git_dir, id)) in clean {
        let kind = &mut tree.entries[at].kind;
        if *kind == Kind::File(Image::Unknown) {
            *kind = Kind::File(Image::Blob(git_dir, id));
        }
    }
}

/// The entries below a folder of the tree: their paths below that, and their places.
fn entries_below<'t>(
    tree: &'t Tree,
    below: &Path,
) -> impl Iterator<Item = (&'t [u8], usize)> + use<'t> {
    let mut prefix = below.as_os_str().as_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    let first = tree.entries.partition_point(|seen| bytes(seen) < &*prefix);
    let entries = tree.entries.iter().enumerate().skip(first);
    entries.map_while(move |(at, seen)| Some((bytes(seen).strip_prefix(&*prefix)?, at)))
}

fn bytes(seen: &Seen) -> &[u8] {
    seen.path.as_os_str().as_bytes()
}

/// The files of a tree that are not covered.
pub(super) fn uncovered(tree: &Tree) -> Vec<(PathBuf, Lost)> {
    let lost = tree.entries.iter().filter_map(|seen| match seen.kind {
        Kind::File(Image::Lost(lost)) => Some((tree.root.join(&seen.path), lost)),
        _ => None,
    });
    lost.collect()
}

/// How an id of git is written.
pub(super) fn written(id: &[u8]) -> String {
    hex(id)
}
