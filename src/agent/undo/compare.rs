//! What a turn has changed: the trees before its first command beside what is there now, and the
//! paths that were changed by name. Only what was touched is read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::cover::written;
use super::hash;
use super::look::{as_in_tree, content, look};
use super::record::{Before, Change};
use super::repository::read_blobs;
use super::state::{Blob, Content, Lost, State};
use super::tree::{Image, Kind, Seen, Tree};

/// All that was changed, by path. What only others have named is theirs.
pub(super) fn compare(
    trees: &[Tree],
    befores: &[Before],
    named_by_others: &HashSet<PathBuf>,
    own: &Path,
) -> Vec<Change> {
    let mut states: BTreeMap<PathBuf, State> = BTreeMap::new();
    let (late, early): (Vec<&Before>, Vec<&Before>) = befores.iter().partition(|it| it.late);
    for before in late {
        states.insert(before.path.clone(), before.state.clone());
    }
    let mut touched = Vec::new();
    for tree in trees {
        let now = Tree::look(&tree.root, own);
        touched.extend(touched_files(tree, &now));
        for seen in added(tree, &now) {
            states.insert(tree.root.join(&seen.path), State::Nothing);
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
        let after = look(&path);
        (before != after && before != State::Special).then(|| Change {
            named: named.contains(&*path),
            path,
            before,
            after,
        })
    });
    changes.collect()
}

/// What was there before and was touched since.
fn touched_files<'t>(tree: &'t Tree, now: &Tree) -> Vec<(PathBuf, &'t Seen)> {
    let touched = tree.entries.iter().filter_map(|seen| {
        let whole = tree.root.join(&seen.path);
        let later = now.get(&seen.path).cloned().or_else(|| {
            // One that git ignores by now is not gone.
            let meta = fs::symlink_metadata(&whole).ok()?;
            Seen::new(seen.path.clone(), &whole, &meta)
        });
        let same = match (&seen.kind, later) {
            (_, None) => false,
            (Kind::File(image), Some(later)) => {
                let is_sure = matches!(image, Image::Lost(_)) || !tree.is_fresh(&seen.stamp);
                matches!(later.kind, Kind::File(_)) && later.stamp == seen.stamp && is_sure
            }
            (Kind::Folder, Some(later)) => {
                later.kind == Kind::Folder && later.stamp.mode == seen.stamp.mode
            }
            (kind, Some(later)) => *kind == later.kind,
        };
        (!same).then_some((whole, seen))
    });
    touched.collect()
}

/// What is there now and was not before. What only came to light, because git no longer ignores it, is
/// older than the turn.
fn added<'t>(tree: &Tree, now: &'t Tree) -> Vec<&'t Seen> {
    if !tree.is_whole {
        return Vec::new();
    }
    let known: HashSet<u64> = tree.entries.iter().map(|seen| seen.stamp.inode).collect();
    let new = now.entries.iter().filter(|seen| {
        tree.get(&seen.path).is_none()
            && (known.contains(&seen.stamp.inode)
                || is_born_since(&now.root.join(&seen.path), tree.taken))
    });
    new.collect()
}

/// Whether the file was made after `since`; so is one of which nobody knows, in a file system
/// that does not tell.
pub(super) fn is_born_since(path: &Path, since: SystemTime) -> bool {
    let meta = fs::symlink_metadata(path);
    meta.is_ok_and(|meta| meta.created().map_or(true, |born| born >= since))
}

/// The contents that git has of files that were touched.
struct Blobs(HashMap<(Arc<Path>, String, u64), Content>);

impl Blobs {
    fn read(touched: &[(PathBuf, &Seen)]) -> Self {
        let mut wanted: HashMap<Arc<Path>, HashMap<String, HashSet<u64>>> = HashMap::new();
        for (_, seen) in touched {
            if let Kind::File(Image::Blob(git_dir, id)) = &seen.kind {
                let ids = wanted.entry(Arc::clone(git_dir)).or_default();
                ids.entry(written(id)).or_default().insert(seen.stamp.size);
            }
        }
        let mut found = HashMap::new();
        for (git_dir, wanted) in wanted {
            let ids: Vec<String> = wanted.keys().cloned().collect();
            read_blobs(&git_dir, &ids, |id, bytes| {
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

    /// What stood there when it was seen.
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
                content: match image {
                    Image::Unknown => lost(Lost::Unreadable),
                    Image::Lost(why) => lost(*why),
                    Image::Kept(hash) => content(hash.clone(), size),
                    Image::Blob(git_dir, id) => {
                        let key = (Arc::clone(git_dir), written(id), size);
                        let known = self.0.get(&key).cloned();
                        known.unwrap_or_else(|| lost(Lost::NotInGit))
                    }
                },
            },
        }
    }
}
