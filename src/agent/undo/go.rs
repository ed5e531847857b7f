//! Undoes and redoes recorded turns, and previews what that would change.

use std::collections::BTreeSet;

use super::apply::{Kept, Outcome, Step, apply, keep_present, plan};
use super::command::RewindPoint;
use super::error::UndoError;
use super::handle::Undo;
use super::history::{Direction, load, next};
use super::preview::{Preview, preview, preview_back};
use super::record::{Record, Status};
use super::store::Store;

impl Undo {
    /// Previews the next undo or redo of the turns in `path`, oldest first, if there is one.
    pub fn preview(
        &self,
        path: &[String],
        direction: Direction,
    ) -> Result<Option<Preview>, UndoError> {
        self.close()?;
        let store = self.opened()?;
        let records = load(&store, path)?;
        let Some(record) = next(&records, direction).map(|at| &records[at]) else {
            return Ok(None);
        };
        let (todo, kept) = plan(steps_of(record, direction), record.is_under_way(), &store);
        Ok(Some(preview(direction, record, &todo, kept, &store)))
    }

    /// Undoes or redoes `turn`, the next one in `path`. After a failed step it stays the next one.
    pub fn go(
        &self,
        path: &[String],
        direction: Direction,
        turn: &str,
    ) -> Result<Outcome, UndoError> {
        self.close()?;
        let store = self.opened()?;
        let _lock = store.lock()?;
        let records = load(&store, path)?;
        let record = next(&records, direction).map(|at| records[at].clone());
        let record = record.filter(|record| record.begun.id == turn);
        let Some(mut record) = record else {
            let text = "the conversation has changed; try again";
            return Err(UndoError::Refused(text.to_owned()));
        };
        self.carry_out(&mut record, direction, &store)
    }

    /// Previews undoing all of `turns`, oldest first.
    pub fn preview_all(&self, turns: &[String]) -> Result<Preview, UndoError> {
        self.close()?;
        let store = self.opened()?;
        let records = load(&store, turns)?;
        Ok(preview_back(&records, &store))
    }

    /// Undoes all applied `turns` (given oldest first), from newest to oldest. Stops at the first
    /// failed step or once `is_cancelled`; the rest then counts as failed.
    ///
    /// # Errors
    /// Nothing has changed: the stored data is unreadable or unwritable, or it was cancelled.
    pub fn go_back(
        &self,
        path: &[String],
        turns: &[String],
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Outcome, UndoError> {
        self.close()?;
        let store = self.opened()?;
        let done = load(&store, path)?.into_iter().rev();
        let mut done = done
            .filter(|record| !matches!(record.status, Status::Undone(_)))
            .take_while(|record| turns.contains(&record.begun.id));
        let mut all = Outcome::default();
        while all.failed.is_empty()
            && let Some(mut record) = done.next()
        {
            let outcome = if is_cancelled() {
                Err(UndoError::Refused("you stopped it".to_owned()))
            } else {
                let locked = store.lock();
                locked.and_then(|_lock| self.carry_out(&mut record, Direction::Undo, &store))
            };
            match outcome {
                Ok(outcome) => {
                    all.changed.extend(outcome.changed);
                    all.kept.extend(outcome.kept);
                    all.failed = outcome.failed;
                }
                Err(error) if all.changed.is_empty() => return Err(error),
                Err(error) => {
                    let left = [record].into_iter().chain(&mut done);
                    let left = left.flat_map(|record| record.changed);
                    let left: BTreeSet<_> = left.map(|change| change.path).collect();
                    let why = error.to_string();
                    all.failed = left.iter().map(|path| Kept::new(path, &why)).collect();
                }
            }
        }
        Ok(all)
    }

    /// Fills in how many files each prompt changed.
    pub fn count_files(&self, points: &mut [RewindPoint]) -> Result<(), UndoError> {
        let store = self.opened()?;
        let mut end = None;
        for point in points.iter_mut().rev() {
            let end = end.replace(point.first).unwrap_or(point.all_turns.len());
            let records = load(&store, &point.all_turns[point.first..end])?;
            let done = records
                .iter()
                .filter(|it| !matches!(it.status, Status::Undone(_)));
            point.files = done.map(|record| record.changed.len()).sum();
        }
        Ok(())
    }

    fn carry_out(
        &self,
        record: &mut Record,
        direction: Direction,
        store: &Store,
    ) -> Result<Outcome, UndoError> {
        let steps = record.clone();
        let is_resumed = record.is_under_way();
        let (todo, kept) = plan(steps_of(&steps, direction), is_resumed, store);
        keep_present(&todo, store, self.limits().file)?;
        record.status = match direction {
            Direction::Undo => Status::Undoing,
            Direction::Redo => Status::Redoing,
        };
        record.save(store)?;
        let failed = apply(&todo, store);
        if failed.is_empty() {
            finish(record, direction, store);
        }
        let mut changed: BTreeSet<_> = todo.iter().map(|step| step.path.to_owned()).collect();
        for stays in &failed {
            changed.remove(&stays.path);
        }
        Ok(Outcome {
            changed,
            kept,
            failed,
        })
    }
}

/// Completes an interrupted undo or redo that had nothing left to do.
pub(super) fn finish_if_done(record: &mut Record, store: &Store) {
    let direction = match record.status {
        Status::Undoing => Direction::Undo,
        Status::Redoing => Direction::Redo,
        Status::Done | Status::Undone(_) => return,
    };
    let (todo, _) = plan(steps_of(record, direction), true, store);
    if todo.is_empty() {
        finish(record, direction, store);
    }
}

/// Marks the turn as done. If that fails, the next attempt does it: the files are right.
fn finish(record: &mut Record, direction: Direction, store: &Store) {
    record.status = match direction {
        Direction::Undo => Status::Undone(jiff::Timestamp::now().as_millisecond()),
        Direction::Redo => Status::Done,
    };
    if let Err(error) = record.save(store) {
        tracing::warn!("undo: {error}");
    }
}

fn steps_of(record: &Record, direction: Direction) -> Vec<Step<'_>> {
    let steps = record.changed.iter().map(|change| {
        let (from, to) = match direction {
            Direction::Undo => (&change.after, &change.before),
            Direction::Redo => (&change.before, &change.after),
        };
        Step::new(&change.path, from, to)
    });
    steps.collect()
}
