//! Reads contents that git has and the store doesn't. Reads many at once, because a git process for
//! each of a thousand files takes many seconds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::look::as_in_tree;
use super::repository::read_blobs;
use super::state::Content;
use super::store::Store;

/// Contents per request.
pub(super) const TOGETHER: usize = 128;
/// Larger ones are read one by one, to limit memory.
const SMALL: u64 = 1 << 20;

/// Contents by hash.
pub(super) struct GitContents<'s> {
    store: &'s Store,
    read: HashMap<String, Vec<u8>>,
}

impl<'s> GitContents<'s> {
    /// Reads the small contents in `wanted` that the store doesn't have.
    pub fn read<'c>(wanted: impl Iterator<Item = &'c Content>, store: &'s Store) -> Self {
        let missing = wanted.filter(|it| it.size <= SMALL && !store.has(&it.hash, it.size));
        Self {
            store,
            read: read(missing),
        }
    }

    /// The bytes of a content, if available.
    pub fn get(&self, content: &Content) -> Option<Cow<'_, [u8]>> {
        if let Some(bytes) = self.read.get(&content.hash) {
            return Some(Cow::Borrowed(bytes));
        }
        if self.store.has(&content.hash, content.size) {
            return fs::read(self.store.path_of(&content.hash))
                .ok()
                .map(Cow::Owned);
        }
        read(std::iter::once(content))
            .into_values()
            .next()
            .map(Cow::Owned)
    }
}

/// The contents wanted from one repository, by blob id: hash and size.
type Wanted<'c> = HashMap<&'c str, HashSet<(&'c str, u64)>>;

fn read<'c>(wanted: impl Iterator<Item = &'c Content>) -> HashMap<String, Vec<u8>> {
    let mut by_git: HashMap<&Path, Wanted<'_>> = HashMap::new();
    for content in wanted {
        if let Some(blob) = &content.blob {
            let ids = by_git.entry(&blob.git_dir).or_default();
            let same = ids.entry(&blob.id).or_default();
            same.insert((&content.hash, content.size));
        }
    }
    let mut found = HashMap::new();
    for (git_dir, wanted) in by_git {
        read_blobs(git_dir, wanted.keys().copied(), |id, bytes| {
            for (hash, size) in wanted.get(id).into_iter().flatten() {
                if let Some((bytes, _)) = as_in_tree(bytes.clone(), *size) {
                    found.insert((*hash).to_owned(), bytes);
                }
            }
        });
    }
    found
}
