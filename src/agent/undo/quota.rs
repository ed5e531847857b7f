//! Limits the undo data: removes the oldest closed turns, then contents that no turn uses.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use super::error::UndoError;
use super::record::{Record, Said, files, folders, read_open, record_size};
use super::state::State;
use super::store::{Store, is_temporary};
use super::tree::{Image, Kind};

/// The result of making room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    /// Number of turns that can no longer be undone.
    pub turns: usize,
    /// Bytes of contents and records now.
    pub used: u64,
}

/// Shrinks contents and records to `max_bytes`, unless other processes use the store.
pub(super) fn evict(store: &Store, max_bytes: u64) -> Result<Evicted, UndoError> {
    let used = objects(store)?.values().sum::<u64>() + records(store)?;
    let nothing = Ok(Evicted { turns: 0, used });
    if used <= max_bytes {
        return nothing;
    }
    let Some(_lock) = store.lock_alone()? else {
        return nothing;
    };
    let sizes = objects(store)?;
    let mut turns = turns(store)?;
    let mut uses: HashMap<String, usize> = HashMap::new();
    for hash in turns.iter().flat_map(|turn| &turn.hashes) {
        *uses.entry(hash.clone()).or_default() += 1;
    }
    let size = |hash: &String| sizes.get(hash).copied().unwrap_or_default();
    let contents: u64 = uses.keys().map(size).sum();
    let mut used = contents + turns.iter().map(|turn| turn.record).sum::<u64>();
    let mut evicted = 0;
    turns.sort_by(|a, b| a.folder.cmp(&b.folder));
    for turn in turns.iter().filter(|turn| !turn.is_open) {
        if used <= max_bytes {
            break;
        }
        let removed = fs::remove_dir_all(&turn.folder);
        removed.map_err(UndoError::io("can't remove", &turn.folder))?;
        evicted += 1;
        used -= turn.record;
        for hash in &turn.hashes {
            if let Some(left) = uses.get_mut(hash) {
                *left -= 1;
                if *left == 0 {
                    uses.remove(hash);
                    used -= size(hash);
                }
            }
        }
    }
    // With an exclusive lock, no process is writing an unfinished content.
    for hash in sizes.keys().filter(|hash| !uses.contains_key(*hash)) {
        let path = if is_temporary(hash) {
            store.objects().join(hash)
        } else {
            store.path_of(hash)
        };
        fs::remove_file(&path).map_err(UndoError::io("can't remove", &path))?;
    }
    Ok(Evicted {
        turns: evicted,
        used,
    })
}

struct Turn {
    folder: PathBuf,
    is_open: bool,
    hashes: HashSet<String>,
    /// The size of its record.
    record: u64,
}

fn records(store: &Store) -> Result<u64, UndoError> {
    let folders = folders(&store.turns())?;
    Ok(folders.iter().map(|(folder, _)| record_size(folder)).sum())
}

/// The contents and their sizes, including unfinished ones.
fn objects(store: &Store) -> Result<HashMap<String, u64>, UndoError> {
    let mut sizes = HashMap::new();
    for (path, name) in files(&store.objects())? {
        if is_temporary(&name) {
            let meta = fs::metadata(&path);
            sizes.insert(name, meta.map_or(0, |meta| meta.len()));
        }
    }
    for (path, name) in folders(&store.objects())? {
        for (path, rest) in files(&path)? {
            let meta = fs::metadata(&path);
            sizes.insert(format!("{name}{rest}"), meta.map_or(0, |meta| meta.len()));
        }
    }
    Ok(sizes)
}

fn turns(store: &Store) -> Result<Vec<Turn>, UndoError> {
    let mut turns = Vec::new();
    for (folder, id) in folders(&store.turns())? {
        let (is_open, hashes) = match Record::load(store, &id) {
            Ok(Some(record)) => {
                let states = record.changed.iter();
                let states = states.flat_map(|change| [&change.before, &change.after]);
                (false, states.filter_map(hash_of).collect())
            }
            // It can restore nothing.
            Err(_) => (false, HashSet::new()),
            Ok(None) => match read_open(&folder) {
                Ok(said) => (true, said.map(hashes_of).unwrap_or_default()),
                Err(_) => (false, HashSet::new()),
            },
        };
        turns.push(Turn {
            record: record_size(&folder),
            folder,
            is_open,
            hashes,
        });
    }
    Ok(turns)
}

fn hashes_of(said: Said) -> HashSet<String> {
    let befores = said.befores.iter();
    let befores = befores.filter_map(|before| hash_of(&before.state));
    let entries = said.trees.iter().flat_map(|tree| tree.entries());
    let kept = entries.filter_map(|(_, seen)| match &seen.kind {
        Kind::File(Image::Kept(hash)) => Some(hash.clone()),
        _ => None,
    });
    befores.chain(kept).collect()
}

fn hash_of(state: &State) -> Option<String> {
    match state {
        State::File { content, .. } => Some(content.hash.clone()).filter(|it| !it.is_empty()),
        _ => None,
    }
}
