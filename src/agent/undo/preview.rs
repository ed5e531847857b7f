//! Previews what undoing or redoing a turn would change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::apply::{Kept, Step, is_cut_off, obstacle};
use super::git_contents::{GitContents, TOGETHER};
use super::history::Direction;
use super::look::look;
use super::record::{Record, Status};
use super::state::{Content, State};
use super::store::Store;
use crate::tool::{DiffDetails, FileChange};
use crate::tools::diff;

/// Larger files aren't compared line by line.
const MAX_COMPARED: u64 = 1 << 20;
/// Time limit for comparing lines; later files get no line counts.
const COMPARING: Duration = Duration::from_secs(1);

/// The changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The direction.
    pub direction: Direction,
    /// The turn.
    pub turn: String,
    /// Its prompt.
    pub prompt: String,
    /// Files and folders, by path.
    pub files: Vec<FilePreview>,
    /// The paths that would stay unchanged.
    pub kept: Vec<Kept>,
}

/// The change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePreview {
    /// It.
    pub path: PathBuf,
    /// The kind of change.
    pub change: FileChange,
    /// Lines added and removed; `None` if they can't be compared.
    pub lines: Option<(usize, usize)>,
    /// The difference, as in [`DiffDetails`]; empty if they can't be compared.
    pub diff: String,
}

pub(super) fn preview(
    direction: Direction,
    record: &Record,
    todo: &[Step<'_>],
    kept: Vec<Kept>,
    store: &Store,
) -> Preview {
    Preview {
        direction,
        turn: record.begun.id.clone(),
        prompt: record.begun.prompt.clone(),
        files: files(todo, store),
        kept,
    }
}

/// Previews undoing all of `records`, oldest first.
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
            let step = Step::new(path, &change.after, &change.before);
            if record.is_under_way() && is_cut_off(&step, now, store) {
                *now = change.after.clone();
            }
            match obstacle(&step, now, store) {
                Some(why) => drop(kept.insert(path, Kept::new(path, why))),
                None => *now = change.before.clone(),
            }
        }
    }
    let steps = states.iter().filter(|(_, (here, then))| here != then);
    let steps = steps.map(|(path, (from, to))| Step::new(path, from, to));
    let files = files(&steps.collect::<Vec<_>>(), store);
    Preview {
        direction: Direction::Undo,
        turn: String::new(),
        prompt: (records.first()).map_or_else(String::new, |it| it.begun.prompt.clone()),
        files,
        kept: kept.into_values().collect(),
    }
}

fn files(steps: &[Step<'_>], store: &Store) -> Vec<FilePreview> {
    let mut files = Vec::with_capacity(steps.len());
    let end = Instant::now() + COMPARING;
    for steps in steps.chunks(TOGETHER) {
        let is_late = Instant::now() >= end;
        let wanted = steps.iter().filter_map(|step| compared(step.to));
        let contents = GitContents::read(wanted.take_while(|_| !is_late), store);
        files.extend(steps.iter().map(|step| {
            let is_late = is_late || Instant::now() >= end;
            let details = (!is_late).then(|| details(step, &contents)).flatten();
            let lines = |details: &DiffDetails| (details.added as usize, details.removed as usize);
            FilePreview {
                path: step.path.to_owned(),
                change: match (step.from, step.to) {
                    (State::Nothing, _) => FileChange::Added,
                    (_, State::Nothing) => FileChange::Deleted,
                    _ => FileChange::Changed,
                },
                lines: details.as_ref().map(lines),
                diff: details.map(|details| details.diff).unwrap_or_default(),
            }
        }));
    }
    files
}

fn details(step: &Step<'_>, contents: &GitContents<'_>) -> Option<DiffDetails> {
    let (old, new) = (here(step)?, there(step.to, contents)?);
    let path = String::new();
    Some(diff::details(path, old.as_bytes(), new.as_bytes()))
}

fn compared(state: &State) -> Option<&Content> {
    match state {
        State::File { content, .. } if content.size <= MAX_COMPARED => Some(content),
        _ => None,
    }
}

/// The current text.
fn here(step: &Step<'_>) -> Option<String> {
    if *step.from == State::Nothing {
        return Some(String::new());
    }
    compared(step.from)?;
    String::from_utf8(fs::read(step.path).ok()?).ok()
}

/// The new text.
fn there(state: &State, contents: &GitContents<'_>) -> Option<String> {
    if *state == State::Nothing {
        return Some(String::new());
    }
    let bytes = contents.get(compared(state)?)?;
    String::from_utf8(bytes.into_owned()).ok()
}
