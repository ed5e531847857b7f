//! The turns of a conversation: the newest applied one can be undone, the last undone one redone.

use super::error::UndoError;
use super::record::{Record, Status};
use super::store::Store;

/// The direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Back.
    Undo,
    /// Redo.
    Redo,
}

/// The remaining records of the turns in `path`, oldest to newest. Excludes turns in the folder of
/// a finished trial: only its kept changes matter, and they are a separate turn.
pub(super) fn load(store: &Store, path: &[String]) -> Result<Vec<Record>, UndoError> {
    let records = path.iter().map(|id| Record::load(store, id));
    let records: Result<Vec<_>, _> = records.collect();
    let has_ended = |record: &Record| {
        let root = &record.begun.root;
        root.starts_with(store.data()) && !root.is_dir()
    };
    let records = records?.into_iter().flatten();
    Ok(records.filter(|record| !has_ended(record)).collect())
}

/// The next turn in this direction.
pub(super) fn next(records: &[Record], direction: Direction) -> Option<usize> {
    let last = (records.iter()).rposition(|record| !matches!(record.status, Status::Undone(_)));
    match direction {
        Direction::Undo => last,
        // An interrupted turn can be finished or reverted.
        Direction::Redo if last.is_some_and(|at| records[at].is_under_way()) => last,
        Direction::Redo => {
            let newest = records.iter().map(|record| record.begun.at).max()?;
            let undone = records.iter().enumerate();
            let undone = undone.filter_map(|(at, record)| match record.status {
                // Later changes build on it.
                Status::Undone(when) if when >= newest => Some((when, std::cmp::Reverse(at))),
                _ => None,
            });
            undone.max().map(|(_, std::cmp::Reverse(at))| at)
        }
    }
}
