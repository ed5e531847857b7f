//! Makes every file of a tree recoverable before a command runs: either git has it, or the store
//! gets a copy. Reports what it can't cover. Does nothing if nothing changed since the last scan.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::UndoError;
use super::git_index::Tracked;
use super::look::MAX_READ;
use super::repository::{Repository, holds, index_stamp};
use super::state::Lost;
use super::store::Store;
use super::tree::{Folder, Image, Kind, Seen, Tree, order};
use crate::trial::{Found, Looker, stays_within};

/// Limits for copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files of a tree.
    pub tree: u64,
}

/// Index of an entry: its folder's, and its own in that folder.
type Place = (usize, usize);
/// The content of a path in git: the git folder and the blob id.
type Blob = (Arc<Path>, Box<[u8]>);

/// Records where the bytes of each file in `tree` are, except those in `covered`. `base` is the
/// tree covered before. Copies only missing files, small ones first.
pub(super) fn cover(
    tree: &mut Tree,
    base: Option<&Tree>,
    store: &Store,
    covered: &HashSet<PathBuf>,
    limits: Limits,
) -> Result<(), UndoError> {
    let tops: Vec<PathBuf> = (tree.folders.iter())
        .filter(|folder| folder.is_top)
        .map(|folder| folder.path.clone())
        .collect();
    let indexes = tops.iter().map(|top| index_stamp(&tree.root.join(top)));
    let indexes = Some(indexes.collect());
    forget_lost_copies(tree, store);
    let mut dirty: HashMap<Place, Blob> = HashMap::new();
    // Files touched after the index was written may differ from it.
    let knows_git = base.is_some_and(|base| base.indexes == indexes && tree.has_all_of(base));
    let mut is_complete = true;
    if !knows_git {
        let repositories = tops.iter().filter_map(|top| Repository::read(tree, top));
        for repository in repositories.collect::<Vec<_>>() {
            is_complete &= add_ignored(tree, &repository);
            take_clean(tree, &repository, &mut dirty);
        }
    }
    tree.indexes = indexes.filter(|_| is_complete);
    let mut open: Vec<Place> = Vec::new();
    let mut taken = 0;
    for (folder, seen) in places(tree) {
        let seen_at = &tree.folders[folder].entries[seen];
        if seen_at.is_open() {
            open.push((folder, seen));
        } else if let Kind::File(Image::Kept(_)) = seen_at.kind {
            taken += seen_at.stamp.size;
        }
    }
    open.sort_by_key(|place| at(tree, *place).stamp.size);
    for place in open {
        let whole = tree.whole(&tree.folders[place.0], at(tree, place));
        if covered.contains(&whole) {
            continue;
        }
        let mut seen = at(tree, place).clone();
        let image = copy(&mut seen, &whole, dirty.get(&place), store, limits, taken)?;
        if matches!(image, Image::Kept(_)) {
            taken += seen.stamp.size;
        }
        seen.kind = Kind::File(image);
        *at_mut(tree, place) = seen;
    }
    Ok(())
}

/// Evicted copies must be made again.
fn forget_lost_copies(tree: &mut Tree, store: &Store) {
    let lost = places(tree).filter(|place| match &at(tree, *place).kind {
        Kind::File(Image::Kept(hash)) => !store.has(hash, at(tree, *place).stamp.size),
        _ => false,
    });
    for place in lost.collect::<Vec<_>>() {
        at_mut(tree, place).kind = Kind::File(Image::Unknown);
    }
}

fn places(tree: &Tree) -> impl Iterator<Item = Place> {
    let folders = tree.folders.iter().enumerate();
    folders.flat_map(|(at, folder)| (0..folder.entries.len()).map(move |seen| (at, seen)))
}

fn at(tree: &Tree, (folder, seen): Place) -> &Seen {
    &tree.folders[folder].entries[seen]
}

fn at_mut(tree: &mut Tree, (folder, seen): Place) -> &mut Seen {
    &mut Arc::make_mut(&mut tree.folders[folder]).entries[seen]
}

fn copy(
    seen: &mut Seen,
    whole: &Path,
    dirty: Option<&Blob>,
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

/// The files that git tracks, by folder: the folder's path below the top, and its tracked files. A
/// folder may occur several times.
fn by_folder(repository: &Repository) -> impl Iterator<Item = (PathBuf, &[Tracked])> {
    let groups = repository
        .tracked
        .chunk_by(|a, b| split(&a.path).0 == split(&b.path).0);
    groups.map(|group| {
        let folder = group.first().map_or(&[][..], |it| split(&it.path).0);
        let below = Path::new(OsStr::from_bytes(folder));
        (repository.below.join(below), group)
    })
}

/// Splits a git path into folder and name.
fn split(path: &[u8]) -> (&[u8], &OsStr) {
    let (folder, name) = match memchr::memrchr(b'/', path) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[][..], path),
    };
    (folder, OsStr::from_bytes(name))
}

/// Adds tracked files that git ignores. Returns whether there are none, and none are missing.
fn add_ignored(tree: &mut Tree, repository: &Repository) -> bool {
    let mut missing: Vec<(PathBuf, &Tracked)> = Vec::new();
    for (below, group) in by_folder(repository) {
        let folder = tree.folder(&below);
        let is_there = |tracked: &Tracked| {
            let name = split(&tracked.path).1;
            folder.is_some_and(|folder| folder.place_of(name).is_ok())
        };
        let lacking = group.iter().filter(|it| it.is_file && !is_there(it));
        missing.extend(lacking.map(|tracked| (below.clone(), tracked)));
    }
    let is_complete = missing.is_empty();
    let root = tree.root.clone();
    let mut looker = Looker::new(&root);
    for (below, tracked) in missing {
        if !stays_within(Path::new(OsStr::from_bytes(&tracked.path))) {
            continue;
        }
        let name = split(&tracked.path).1;
        let path = below.join(name);
        let Ok(Found::File(meta)) = looker.look(&path) else {
            continue;
        };
        let Some(seen) = Seen::new(name.to_owned(), &root.join(&path), &meta) else {
            continue;
        };
        let folder = tree
            .folders
            .binary_search_by(|folder| order(&folder.path, &below));
        let folder = folder.unwrap_or_else(|at| {
            let folder = Folder {
                path: below,
                is_ignored: true,
                ..Folder::default()
            };
            tree.folders.insert(at, Arc::new(folder));
            at
        });
        let folder = Arc::make_mut(&mut tree.folders[folder]);
        if let Err(at) = folder.place_of(name) {
            folder.entries.insert(at, seen);
        }
    }
    is_complete
}

/// Fills in the blob ids of unchanged files. Tracked files that may be unchanged go into `dirty`.
fn take_clean(tree: &mut Tree, repository: &Repository, dirty: &mut HashMap<Place, Blob>) {
    let mut open: Vec<(Place, &Tracked)> = Vec::new();
    for (below, group) in by_folder(repository) {
        let Some(folder) = tree.place_of(&below) else {
            continue;
        };
        for tracked in group.iter().filter(|it| it.is_file) {
            let seen = tree.folders[folder].place_of(split(&tracked.path).1);
            if let Ok(seen) = seen
                && at(tree, (folder, seen)).is_open()
            {
                open.push(((folder, seen), tracked));
            }
        }
    }
    let paths = open.iter().map(|(_, tracked)| &*tracked.path);
    let converted = repository.converted(tree, paths);
    let git_dir: Arc<Path> = Arc::from(&*repository.common_dir);
    for (place, tracked) in open {
        if converted.contains(&tracked.path) {
            continue;
        }
        let blob = (Arc::clone(&git_dir), tracked.id.clone());
        if repository.is_clean(tracked, &at(tree, place).stamp) {
            at_mut(tree, place).kind = Kind::File(Image::Blob(blob.0, blob.1));
            continue;
        }
        // It may still have that content. Git writes size 0 if it isn't sure.
        let size = at(tree, place).stamp.size;
        if size <= MAX_READ && (tracked.size == 0 || u64::from(tracked.size) == size) {
            dirty.insert(place, blob);
        }
    }
}

pub(super) fn uncovered(tree: &Tree) -> Vec<(PathBuf, Lost)> {
    let lost = tree.entries().filter_map(|(folder, seen)| match seen.kind {
        Kind::File(Image::Lost(lost)) => Some((tree.whole(folder, seen), lost)),
        _ => None,
    });
    lost.collect()
}
