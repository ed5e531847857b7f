//! The journal of a keep, written before it starts. A keep that fails or is killed halfway is
//! rolled back from it. Files that anyone else has written since stay.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::copy::{Found, Looker};
use super::error::TrialError;
use super::merge::Plan;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};
use super::write::{Staged, remove_file};
use crate::new_file::is_cut_off;

/// The state after the keep. Written last: it makes the journal valid.
const AFTER: &str = "keep.after";
const BEFORE: &str = "keep.before";

/// Records what `plan` is about to do.
pub(super) fn open(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    plan.before.save(&trial.folder.join(BEFORE))?;
    plan.after.save(&trial.folder.join(AFTER))
}

/// Rolls back what the journal records. Returns `false` if there is no journal.
pub(super) fn roll_back(trial: &Trial, objects: &Objects) -> Result<bool, TrialError> {
    let path = trial.folder.join(AFTER);
    if !path.exists() {
        return Ok(false);
    }
    let after = Snapshot::load(&path)?;
    let before = Snapshot::load(&trial.folder.join(BEFORE))?;
    let (here, linked) = look_at(trial, &before, &after, objects)?;
    let half = half_written(trial, objects, [&after, &before], &here, &linked)?;
    // Only files in the state that the keep left them in.
    let ours = |path: &&PathBuf| here.get(path) == after.get(path) || half.contains(*path);
    let former = before.entries.iter().filter(|(path, _)| ours(path));
    // Before removing anything, so that a full disk or a kill here can be repeated.
    let former = Staged::new(trial, objects, former, &before.stamps)?;
    let new = |path: &&PathBuf| before.get(path).is_none();
    for path in after.entries.keys().filter(ours).filter(new) {
        remove_file(trial, path)?;
    }
    former.commit(trial)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TrialError::io("can't remove", &path)(error))
        }
        _ => Ok(true),
    }
}

/// Returns files with several names (written in place) in which writing one of `versions` was cut
/// off, or whose permissions weren't set yet.
fn half_written(
    trial: &Trial,
    objects: &Objects,
    versions: [&Snapshot; 2],
    here: &Snapshot,
    linked: &[PathBuf],
) -> Result<BTreeSet<PathBuf>, TrialError> {
    let mut asked = Vec::new();
    for path in linked {
        let entries = versions.map(|snapshot| snapshot.get(path));
        if entries.contains(&here.get(path)) {
            continue;
        }
        if let [
            Some(Entry::File { version: after, .. }),
            Some(Entry::File {
                version: before, ..
            }),
        ] = entries
        {
            asked.extend([(path, after.as_str()), (path, before.as_str())]);
        }
    }
    let wanted: Vec<&str> = asked.iter().map(|(_, version)| *version).collect();
    let (mut half, mut after) = (BTreeSet::new(), Vec::new());
    objects.read(&wanted, |index, bytes| {
        if index % 2 == 0 {
            after = bytes;
            return Ok(());
        }
        let (path, _) = asked[index];
        let whole = trial.root.join(path);
        let now = fs::read(&whole).map_err(TrialError::io("can't read", &whole))?;
        if is_cut_off(&now, &bytes, &after) || is_cut_off(&now, &after, &bytes) {
            half.insert(path.clone());
        }
        Ok(())
    })?;
    Ok(half)
}

/// Returns what is at the paths now, and which of them are files with several names.
fn look_at(
    trial: &Trial,
    before: &Snapshot,
    after: &Snapshot,
    objects: &Objects,
) -> Result<(Snapshot, Vec<PathBuf>), TrialError> {
    let (mut here, mut linked) = (Snapshot::default(), Vec::new());
    let mut looker = Looker::new(&trial.root);
    for path in before.entries.keys().chain(after.entries.keys()) {
        let entry = match looker.find(path)? {
            Found::File(meta) => {
                if meta.nlink() > 1 {
                    linked.push(path.clone());
                }
                Entry::unnamed(&meta)
            }
            Found::Link(target) => Entry::Link(target),
            Found::Nothing | Found::Folder | Found::Special => continue,
        };
        here.entries.insert(path.clone(), entry);
    }
    objects.name_versions(&mut here, &trial.root, &CancellationToken::new())?;
    Ok((here, linked))
}
