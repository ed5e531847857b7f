//! What a keep is about to do, written down before it begins: a keep that fails or is killed in the
//! middle is taken back from it. Where somebody else has written since, their file stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::copy::{Found, Looker, is_executable};
use super::error::TrialError;
use super::merge::Plan;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};
use super::write::{Staged, remove_file};

/// What will be there. Written last: with it the journal counts.
const AFTER: &str = "keep.after";
const BEFORE: &str = "keep.before";

/// Writes down what `plan` is about to do.
pub(super) fn open(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    plan.before.save(&trial.folder.join(BEFORE))?;
    plan.after.save(&trial.folder.join(AFTER))
}

/// Takes back what the journal says was begun. Returns whether there is one.
pub(super) fn roll_back(trial: &Trial, objects: &Objects) -> Result<bool, TrialError> {
    let path = trial.folder.join(AFTER);
    if !path.exists() {
        return Ok(false);
    }
    let after = Snapshot::load(&path)?;
    let before = Snapshot::load(&trial.folder.join(BEFORE))?;
    let here = look_at(trial, &before, &after, objects)?;
    // Only what stands as the keep has left it.
    let ours = |path: &&PathBuf| here.get(path) == after.get(path);
    let former: Vec<(&Path, &Entry)> = before
        .entries
        .iter()
        .filter(|(path, _)| ours(path))
        .map(|(path, entry)| (path.as_path(), entry))
        .collect();
    // Before anything is removed: on a full disk, or killed here, this can be done again.
    let former = Staged::new(trial, objects, &former, &before.stamps)?;
    let new = |path: &&PathBuf| before.get(path).is_none();
    for path in after.entries.keys().filter(ours).filter(new) {
        remove_file(trial, path)?;
    }
    former.commit(trial)?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TrialError::io("cannot remove", &path)(error))
        }
        _ => Ok(true),
    }
}

fn look_at(
    trial: &Trial,
    before: &Snapshot,
    after: &Snapshot,
    objects: &Objects,
) -> Result<Snapshot, TrialError> {
    let mut here = Snapshot::default();
    let mut looker = Looker::new(&trial.root);
    for path in before.entries.keys().chain(after.entries.keys()) {
        let found = looker.look(path);
        let found = found.map_err(TrialError::io("cannot read", &trial.root.join(path)))?;
        let entry = match found {
            Found::File(meta) => Entry::File {
                executable: is_executable(&meta),
                version: String::new(),
            },
            Found::Link(target) => Entry::Link(target),
            Found::Nothing | Found::Folder | Found::Special => continue,
        };
        here.entries.insert(path.clone(), entry);
    }
    objects.name_versions(&mut here, &trial.root, &CancellationToken::new())?;
    Ok(here)
}
