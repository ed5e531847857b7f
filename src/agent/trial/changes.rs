//! What a trial has changed: compares its files with their state when it began.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::copy::{Found, Looker};
use super::error::TrialError;
use super::listing::Listing;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};
use crate::stamp::Stamp;
use crate::tool::FileChange;

/// A file changed by the trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The path below the repository's root.
    pub path: PathBuf,
    /// The kind of change.
    pub change: FileChange,
}

/// Returns what `trial` has changed so far.
pub fn changes(trial: &Trial) -> Result<Vec<Changed>, TrialError> {
    let begun = trial.begun()?;
    let now = scan(trial, &begun, &trial.objects(), &CancellationToken::new())?;
    Ok(between(&begun, &now))
}

/// Returns the current state of the trial's files. Reads only those touched since it began.
pub(super) fn scan(
    trial: &Trial,
    begun: &Snapshot,
    objects: &Objects,
    cancel: &CancellationToken,
) -> Result<Snapshot, TrialError> {
    let mut files = Listing::of_copy(&trial.git_dir, &trial.tree, &trial.modules)?.files;
    // Files that are ignored by now still exist.
    files.extend(begun.entries.keys().cloned());
    let mut now = Snapshot::default();
    let mut looker = Looker::new(&trial.tree);
    for path in files {
        if cancel.is_cancelled() {
            return Err(TrialError::Cancelled);
        }
        let entry = match looker.find(&path)? {
            Found::Nothing | Found::Folder | Found::Special => continue,
            Found::Link(target) => Entry::Link(target),
            Found::File(meta) => {
                let stamp = Stamp::of(&meta);
                match begun.get(&path) {
                    Some(entry) if begun.stamps.get(&path) == Some(&stamp) => {
                        now.stamps.insert(path.clone(), stamp);
                        entry.clone()
                    }
                    _ => Entry::unnamed(&meta),
                }
            }
        };
        now.entries.insert(path, entry);
    }
    objects.name_versions(&mut now, &trial.tree, cancel)?;
    Ok(now)
}

pub(super) fn between(begun: &Snapshot, now: &Snapshot) -> Vec<Changed> {
    let mut changed = Vec::new();
    for (path, entry) in &begun.entries {
        let change = match now.get(path) {
            Some(now) if now == entry => continue,
            Some(_) => FileChange::Changed,
            None => FileChange::Deleted,
        };
        changed.push((path, change));
    }
    let new = now.entries.keys().filter(|path| begun.get(path).is_none());
    changed.extend(new.map(|path| (path, FileChange::Added)));
    changed.sort_by_key(|(path, _)| *path);
    let changed = changed.into_iter().map(|(path, change)| Changed {
        path: path.clone(),
        change,
    });
    changed.collect()
}
