//! Finds what a turn changed. Compares the trees before its first command with the current ones,
//! and adds the paths that tools named. Reads only what was touched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::look::{as_in_tree, content, look};
use super::looks::Looks;
use super::record::{Before, Change};
use super::repository::read_blobs;
use super::state::{Blob, Content, Lost, State};
use super::tree::{Folder, Image, Kind, Seen, Tree};
use crate::hash;

/// All changes, by path. Excludes paths that only other sessions named. `afters` are the states
/// right after writes, if the turn ran nothing since.
pub(super) fn compare(
    trees: &[Arc<Tree>],
    befores: &[Before],
    afters: &HashMap<PathBuf, State>,
    named_by_others: &HashSet<PathBuf>,
    looks: &mut Looks,
) -> Vec<Change> {
    let mut states: BTreeMap<PathBuf, State> = BTreeMap::new();
    let (late, early): (Vec<&Before>, Vec<&Before>) = befores.iter().partition(|it| it.late);
    for before in late {
        states.insert(before.path.clone(), before.state.clone());
    }
    let mut touched = Vec::new();
    for tree in trees {
        let now = looks.look(tree);
        touched.extend(touched_files(tree, now.as_deref()));
        for path in now.iter().flat_map(|now| added(tree, now)) {
            states.insert(path, State::Nothing);
        }
    }
    let blobs = Blobs::read(&touched);
    for (path, seen) in touched {
        states.insert(path, blobs.state(seen));
    }
    let named: HashSet<&Path> = befores.iter().map(|before| &*before.path).collect();
    states.retain(|path, _| named.contains(&**path) || !named_by_others.contains(path));
    for before in early {
        states.insert(before.path.clone(), before.state.clone());
    }
    let changes = states.into_iter().filter_map(|(path, before)| {
        let after = afters.get(&path).cloned().unwrap_or_else(|| look(&path));
        (before != after && before != State::Special).then(|| Change {
            named: named.contains(&*path),
            path,
            before,
            after,
        })
    });
    changes.collect()
}

/// Existing paths that were touched since. Checks each path if there is no current tree (`now`).
fn touched_files<'t>(tree: &'t Tree, now: Option<&Tree>) -> Vec<(PathBuf, &'t Seen)> {
    let mut touched = Vec::new();
    for folder in &tree.folders {
        let present = now.and_then(|now| now.folder(&folder.path));
        if present.is_some_and(|present| Arc::ptr_eq(present, folder)) {
            continue;
        }
        for seen in &folder.entries {
            let whole = tree.whole(folder, seen);
            if !is_untouched(tree, seen, present, &whole) {
                touched.push((whole, seen));
            }
        }
    }
    touched
}

fn is_untouched(tree: &Tree, seen: &Seen, present: Option<&Arc<Folder>>, whole: &Path) -> bool {
    let later = present.and_then(|folder| folder.get(&seen.name)).cloned();
    let later = later.or_else(|| {
        // A path that git now ignores isn't gone.
        let meta = fs::symlink_metadata(whole).ok()?;
        Seen::new(seen.name.clone(), whole, &meta)
    });
    match (&seen.kind, later) {
        (_, None) => false,
        (Kind::File(image), Some(later)) => {
            let is_sure = matches!(image, Image::Lost(_)) || !tree.is_fresh(&seen.stamp);
            matches!(later.kind, Kind::File(_)) && later.stamp == seen.stamp && is_sure
        }
        (Kind::Folder, Some(later)) => {
            later.kind == Kind::Folder && later.stamp.mode == seen.stamp.mode
        }
        (kind, Some(later)) => *kind == later.kind,
    }
}

/// New paths. Excludes files that only became visible because git no longer ignores them, since
/// they are older than the turn.
fn added(tree: &Tree, now: &Tree) -> Vec<PathBuf> {
    if !tree.is_whole {
        return Vec::new();
    }
    let mut inodes: Option<HashSet<u64>> = None;
    let mut added = Vec::new();
    for folder in &now.folders {
        let former = tree.folder(&folder.path);
        if former.is_some_and(|former| Arc::ptr_eq(former, folder)) {
            continue;
        }
        let is_new = |seen: &&Seen| former.is_none_or(|it| it.get(&seen.name).is_none());
        for seen in folder.entries.iter().filter(is_new) {
            let whole = now.whole(folder, seen);
            let inodes = inodes.get_or_insert_with(|| {
                let known = tree.entries().map(|(_, seen)| seen.stamp.inode);
                known.collect()
            });
            if inodes.contains(&seen.stamp.inode) || is_born_since(&whole, tree.taken) {
                added.push(whole);
            }
        }
    }
    added
}

/// True if the file was created after `since`, or if the file system doesn't say.
pub(super) fn is_born_since(path: &Path, since: SystemTime) -> bool {
    let meta = fs::symlink_metadata(path);
    meta.is_ok_and(|meta| meta.created().map_or(true, |born| born >= since))
}

/// The content in git for files that were touched.
struct Blobs(HashMap<(Arc<Path>, String, u64), Content>);

impl Blobs {
    fn read(touched: &[(PathBuf, &Seen)]) -> Self {
        let mut wanted: HashMap<Arc<Path>, HashMap<String, HashSet<u64>>> = HashMap::new();
        for (_, seen) in touched {
            if let Kind::File(Image::Blob(git_dir, id)) = &seen.kind {
                let ids = wanted.entry(Arc::clone(git_dir)).or_default();
                ids.entry(hash::hex(id))
                    .or_default()
                    .insert(seen.stamp.size);
            }
        }
        let mut found = HashMap::new();
        for (git_dir, wanted) in wanted {
            let ids = wanted.keys().map(String::as_str);
            read_blobs(&git_dir, ids, |id, bytes| {
                for size in wanted.get(id).into_iter().flatten() {
                    let Some((bytes, crlf)) = as_in_tree(bytes.clone(), *size) else {
                        continue;
                    };
                    let blob = Blob {
                        git_dir: git_dir.to_path_buf(),
                        id: id.to_owned(),
                        crlf,
                    };
                    let content = Content {
                        blob: Some(blob),
                        ..content(hash::of_bytes(&bytes), *size)
                    };
                    found.insert((Arc::clone(&git_dir), id.to_owned(), *size), content);
                }
            });
        }
        Self(found)
    }

    fn state(&self, seen: &Seen) -> State {
        let size = seen.stamp.size;
        let lost = |lost| Content {
            lost: Some(lost),
            ..content(String::new(), size)
        };
        match &seen.kind {
            Kind::Folder => State::Folder(seen.stamp.mode),
            Kind::Link(target) => State::Link(target.clone()),
            Kind::Special => State::Special,
            Kind::File(image) => State::File {
                mode: seen.stamp.mode,
                content: Content {
                    inode: seen.stamp.inode,
                    ..match image {
                        Image::Unknown => lost(Lost::Unreadable),
                        Image::Lost(why) => lost(*why),
                        Image::Kept(hash) => content(hash.clone(), size),
                        Image::Blob(git_dir, id) => {
                            let key = (Arc::clone(git_dir), hash::hex(id), size);
                            let known = self.0.get(&key).cloned();
                            known.unwrap_or_else(|| lost(Lost::NotInGit))
                        }
                    }
                },
            },
        }
    }
}
