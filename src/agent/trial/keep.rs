//! Keeps a trial: puts a plan into effect in the user's files, all of it or nothing. What fails or is
//! killed in the middle is taken back.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::changes::{Changed, between, scan};
use super::copy::{Found, Looker};
use super::error::{Obstacle, TrialError};
use super::journal;
use super::merge::Plan;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Stamp};
use super::write::{Staged, remove_file};

/// What was taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The files, below the root of the repository.
    pub changed: Vec<Changed>,
    /// How many of them the user had changed too.
    pub merged: usize,
}

/// Takes the changes of `trial` over into the user's files: all of them, or none with the files that
/// stand in the way. A keep that was killed is taken back first.
///
/// # Errors
/// Files stand in the way, or something cannot be read or written.
pub fn keep(trial: &Trial, cancel: &CancellationToken) -> Result<Kept, TrialError> {
    recover(trial)?;
    let (begun, objects) = (trial.begun()?, trial.objects());
    let now = scan(trial, &begun, &objects, cancel)?;
    let changed = between(&begun, &now);
    let plan = Plan::make(trial, &objects, &begun, &now, &changed, cancel)?;
    carry_out(trial, &objects, &plan)?;
    Ok(Kept {
        merged: plan.merged,
        changed,
    })
}

/// Brings the user's files back to before a keep of `trial` that was killed in the middle. Returns
/// whether there was one.
///
/// # Errors
/// Something cannot be read or written.
pub fn recover(trial: &Trial) -> Result<bool, TrialError> {
    journal::roll_back(trial, &trial.objects())
}

fn carry_out(trial: &Trial, objects: &Objects, plan: &Plan) -> Result<(), TrialError> {
    let writes: Vec<(&Path, &Entry)> = plan
        .after
        .entries
        .iter()
        .map(|(path, entry)| (path.as_path(), entry))
        .collect();
    let staged = Staged::new(trial, objects, &writes, &plan.after.stamps)?;
    must_be_as_planned(trial, plan)?;
    journal::open(trial, plan)?;
    let done = remove_all(trial, plan).and_then(|()| staged.commit(trial));
    done.map_err(|error| match journal::roll_back(trial, objects) {
        Ok(_) => error,
        Err(again) => TrialError::Damaged {
            path: trial.root.clone(),
            what: format!(
                "{error}; and what was written could not be taken back ({again}). The versions of \
                 before are named in {} and kept beside it",
                trial.folder.join("keep.before").display()
            ),
        },
    })
}

fn remove_all(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    let gone = plan.before.entries.keys();
    for path in gone.filter(|path| plan.after.get(path).is_none()) {
        remove_file(trial, path)?;
    }
    Ok(())
}

/// Fails when the user has changed a file since the plan was made.
fn must_be_as_planned(trial: &Trial, plan: &Plan) -> Result<(), TrialError> {
    let mut looker = Looker::new(&trial.root);
    let paths = plan.before.entries.keys().chain(plan.after.entries.keys());
    for path in paths {
        let whole = trial.root.join(path);
        let found = looker.look(path);
        let same = match found.map_err(TrialError::io("cannot read", &whole))? {
            Found::Nothing | Found::Folder => plan.before.get(path).is_none(),
            Found::File(meta) => plan.before.stamps.get(path) == Some(&Stamp::of(&meta)),
            Found::Link(target) => plan.before.get(path) == Some(&Entry::Link(target)),
            Found::Special => false,
        };
        if !same {
            return Err(TrialError::Conflicts(vec![Obstacle {
                path: path.clone(),
                why: "was changed here at this very moment",
            }]));
        }
    }
    Ok(())
}
