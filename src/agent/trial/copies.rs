//! Copies the user's files into the worktree and names their versions, with one thread per
//! processor: most of the time goes into creating files, one after the other.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio_util::sync::CancellationToken;

use super::copy::{Found, Looker, copy_file, is_gone, link};
use super::error::TrialError;
use super::objects::Objects;
use super::record::Trial;
use super::snapshot::{Entry, Snapshot};

/// Files per batch of a thread. Git is started once per batch.
const BATCH: usize = 1000;
/// Most threads. More would only wait for the disk.
const THREADS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Copies {
    pub begun: Snapshot,
    /// Files that couldn't be read.
    pub left_out: Vec<PathBuf>,
}

pub(super) fn copy_all(
    trial: &Trial,
    files: BTreeSet<PathBuf>,
    cancel: &CancellationToken,
) -> Result<Copies, TrialError> {
    let files = Vec::from_iter(files);
    let batches: Vec<&[PathBuf]> = files.chunks(BATCH).collect();
    let next = AtomicUsize::new(0);
    let (objects, stop) = (trial.objects(), cancel.child_token());
    let work = || {
        let mut copies = Copies::default();
        let mut looker = Looker::new(&trial.root);
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let copied = copies.add(trial, &objects, &mut looker, batch, &stop);
            // The other threads can stop.
            copied.inspect_err(|_| stop.cancel())?;
        }
        Ok(copies)
    };
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = most.min(THREADS).min(batches.len());
    let done: Vec<Result<Copies, TrialError>> = thread::scope(|scope| {
        // Fewer threads start if a process limit applies.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let own = work();
        let others = others.into_iter().map(|other| {
            let died = |_| TrialError::io("can't copy", &trial.root)(io::Error::other("a panic"));
            other.join().map_err(died).flatten()
        });
        [own].into_iter().chain(others).collect()
    });
    merge(done)
}

/// Joins all parts. Of several errors, returns the one that made the others stop.
fn merge(done: Vec<Result<Copies, TrialError>>) -> Result<Copies, TrialError> {
    let mut all = Copies::default();
    let mut failed = None;
    for part in done {
        match part {
            Ok(mut part) => {
                all.begun.entries.append(&mut part.begun.entries);
                all.begun.stamps.append(&mut part.begun.stamps);
                all.left_out.append(&mut part.left_out);
            }
            Err(TrialError::Cancelled) if failed.is_some() => {}
            Err(error) => failed = Some(error),
        }
    }
    all.left_out.sort_unstable();
    failed.map_or(Ok(all), Err)
}

impl Copies {
    fn add(
        &mut self,
        trial: &Trial,
        objects: &Objects,
        looker: &mut Looker<'_>,
        files: &[PathBuf],
        cancel: &CancellationToken,
    ) -> Result<(), TrialError> {
        let mut copied = Snapshot::default();
        let mut folder = PathBuf::new();
        for path in files {
            if cancel.is_cancelled() {
                return Err(TrialError::Cancelled);
            }
            let entry = self.copy(trial, looker, path, &mut folder)?;
            copied
                .entries
                .extend(entry.map(|entry| (path.clone(), entry)));
        }
        objects.name_versions(&mut copied, &trial.tree, cancel)?;
        self.begun.entries.append(&mut copied.entries);
        self.begun.stamps.append(&mut copied.stamps);
        Ok(())
    }

    /// Copies one file. `folder` is the last folder created.
    fn copy(
        &mut self,
        trial: &Trial,
        looker: &mut Looker<'_>,
        path: &Path,
        folder: &mut PathBuf,
    ) -> Result<Option<Entry>, TrialError> {
        let (from, to) = (trial.root.join(path), trial.tree.join(path));
        let found = looker.find(path)?;
        if matches!(found, Found::File(_) | Found::Link(_))
            && let Some(parent) = to.parent()
            && parent != folder
        {
            fs::create_dir_all(parent).map_err(TrialError::io("can't create", parent))?;
            parent.clone_into(folder);
        }
        match found {
            Found::Nothing | Found::Folder | Found::Special => Ok(None),
            Found::Link(target) => {
                link(&target, &to).map_err(TrialError::io("can't write", &to))?;
                Ok(Some(Entry::Link(target)))
            }
            Found::File(meta) => match copy_file(&from, &to) {
                Ok(()) => Ok(Some(Entry::unnamed(&meta))),
                // It may have been removed since it was listed.
                Err(error) if is_gone(&error) && !from.exists() => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.left_out.push(path.to_owned());
                    Ok(None)
                }
                Err(error) => Err(TrialError::io("can't copy", &from)(error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_errors_is_reported() {
        let cause = || Err(TrialError::NoGit);
        let stopped = || Err(TrialError::Cancelled);
        for done in [
            vec![stopped(), cause(), stopped()],
            vec![cause(), stopped()],
            vec![Ok(Copies::default()), cause()],
        ] {
            assert!(matches!(merge(done), Err(TrialError::NoGit)));
        }
        let merged = merge(vec![Ok(Copies::default()), stopped()]);
        assert!(matches!(merged, Err(TrialError::Cancelled)));
    }
}
