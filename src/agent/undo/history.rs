//! The turns of a conversation, and which of them can be undone or redone: the newest that is done,
//! the one that was undone last.

use super::error::UndoError;
use super::record::{Record, Status};
use super::store::Store;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Back.
    Undo,
    /// Forth again.
    Redo,
}

/// The records of the turns `path`, from the oldest to the newest, as far as they are still kept.
/// Without those in the folder of a trial that has ended: nothing of it is left but what was kept, which
/// is a turn of its own.
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

/// The turn that is next in this direction.
pub(super) fn next(records: &[Record], direction: Direction) -> Option<usize> {
    let last = (records.iter()).rposition(|record| !matches!(record.status, Status::Undone(_)));
    match direction {
        Direction::Undo => last,
        // One that was cut short can be finished, or taken back, either way.
        Direction::Redo if last.is_some_and(|at| records[at].is_under_way()) => last,
        Direction::Redo => {
            let newest = records.iter().map(|record| record.begun.at).max()?;
            let undone = records.iter().enumerate();
            let undone = undone.filter_map(|(at, record)| match record.status {
                // What was done since stands on what it left.
                Status::Undone(when) if when >= newest => Some((when, std::cmp::Reverse(at))),
                _ => None,
            });
            undone.max().map(|(_, std::cmp::Reverse(at))| at)
        }
    }
}
