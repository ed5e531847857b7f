//! What undoing or redoing a turn would change, for the user to see before it is done.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use similar::{ChangeTag, TextDiff};

use super::apply::{Kept, Step, obstacle};
use super::history::Direction;
use super::look::{bytes_of_blob, look};
use super::record::{Record, Status};
use super::state::{Content, State};
use super::store::Store;
use crate::agent::tool::FileChange;

/// Larger files are not compared line by line.
const MAX_COMPARED: u64 = 1 << 20;

/// What would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Which way.
    pub direction: Direction,
    /// The turn.
    pub turn: String,
    /// What the user had said.
    pub prompt: String,
    /// The files and folders, by path.
    pub files: Vec<FilePreview>,
    /// What would stay as it is.
    pub kept: Vec<Kept>,
}

/// What would become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePreview {
    /// It.
    pub path: PathBuf,
    /// What would happen to it.
    pub change: FileChange,
    /// Lines that would come and go; none where they cannot be compared.
    pub lines: Option<(usize, usize)>,
}

/// The preview of `todo`, which belongs to `record`.
pub(super) fn preview(
    direction: Direction,
    record: &Record,
    todo: &[Step<'_>],
    kept: Vec<Kept>,
    store: &Store,
) -> Preview {
    let files = todo.iter().map(|step| file(step, store));
    Preview {
        direction,
        turn: record.begun.id.clone(),
        prompt: record.begun.prompt.clone(),
        files: files.collect(),
        kept,
    }
}

/// What undoing all of `records`, the oldest first, would change.
pub(super) fn preview_back(records: &[Record], store: &Store) -> Preview {
    let mut states: BTreeMap<&Path, (State, State)> = BTreeMap::new();
    let mut kept: BTreeMap<&Path, Kept> = BTreeMap::new();
    let done = records.iter().rev();
    for record in done.filter(|record| !matches!(record.status, Status::Undone(_))) {
        for change in &record.changed {
            let path = &*change.path;
            let (_, now) = states.entry(path).or_insert_with(|| {
                let here = look(path);
                (here.clone(), here)
            });
            let step = Step {
                path,
                from: &change.after,
                to: &change.before,
            };
            match obstacle(&step, now, store) {
                Some(why) => drop(kept.insert(path, Kept::new(path, why))),
                None => *now = change.before.clone(),
            }
        }
    }
    let steps = states.iter().filter(|(_, (here, then))| here != then);
    let steps = steps.map(|(path, (from, to))| Step { path, from, to });
    let files: Vec<FilePreview> = steps.map(|step| file(&step, store)).collect();
    Preview {
        direction: Direction::Undo,
        turn: String::new(),
        prompt: (records.first()).map_or_else(String::new, |it| it.begun.prompt.clone()),
        files,
        kept: kept.into_values().collect(),
    }
}

fn file(step: &Step<'_>, store: &Store) -> FilePreview {
    FilePreview {
        path: step.path.to_owned(),
        change: match (step.from, step.to) {
            (State::Nothing, _) => FileChange::Added,
            (_, State::Nothing) => FileChange::Deleted,
            _ => FileChange::Changed,
        },
        lines: lines(step, store),
    }
}

fn lines(step: &Step<'_>, store: &Store) -> Option<(usize, usize)> {
    let (old, new) = (here(step)?, there(step.to, store)?);
    let diff = TextDiff::from_lines(&old, &new);
    let count = |tag| {
        let changes = diff.iter_all_changes();
        changes.filter(|change| change.tag() == tag).count()
    };
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

/// The text that is in the file.
fn here(step: &Step<'_>) -> Option<String> {
    match step.from {
        State::Nothing => Some(String::new()),
        State::File { content, .. } if content.size <= MAX_COMPARED => {
            String::from_utf8(fs::read(step.path).ok()?).ok()
        }
        _ => None,
    }
}

/// The text that will be.
fn there(state: &State, store: &Store) -> Option<String> {
    match state {
        State::Nothing => Some(String::new()),
        State::File { content, .. } if content.size <= MAX_COMPARED => {
            String::from_utf8(bytes(content, store)?).ok()
        }
        _ => None,
    }
}

fn bytes(content: &Content, store: &Store) -> Option<Vec<u8>> {
    if store.has(&content.hash) {
        return fs::read(store.path_of(&content.hash)).ok();
    }
    bytes_of_blob(content.blob.as_ref()?, content.size)
}
