//! What a trial has changed: its files as they are now beside those it began with.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::copy::{Found, Looker};
use super::error::TrialError;
use super::listing::Listing;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};
use crate::agent::stamp::Stamp;
use crate::agent::tool::FileChange;

/// A file that the trial has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Below the root of the repository.
    pub path: PathBuf,
    /// What became of it.
    pub change: FileChange,
}

/// What `trial` has changed so far.
pub fn changes(trial: &Trial) -> Result<Vec<Changed>, TrialError> {
    let begun = trial.begun()?;
    let now = scan(trial, &begun, &trial.objects(), &CancellationToken::new())?;
    Ok(between(&begun, &now))
}

/// The files of the trial as they are now. Only those that were touched since it began are read.
pub(super) fn scan(
    trial: &Trial,
    begun: &Snapshot,
    objects: &Objects,
    cancel: &CancellationToken,
) -> Result<Snapshot, TrialError> {
    let mut files = Listing::of_copy(&trial.git_dir, &trial.tree, &trial.modules)?.files;
    // One that is ignored by now is not gone.
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
