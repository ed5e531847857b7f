//! The data of a turn. While open, it is a journal that stores each path's state before it changes.
//! Once closed, it is a record of the changes, written completely or not at all.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::UndoError;
use super::state::State;
use super::store::Store;
use super::tree::Tree;
use crate::lock::FileLock;
use crate::stored_path;
use crate::trial::write_whole;

const JOURNAL: &str = "open";
const RECORD: &str = "turn.json";
const LISTING: &str = "tree-";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begun {
    /// The id, which sorts by time.
    pub id: String,
    pub session: String,
    pub prompt: String,
    /// When, in milliseconds.
    pub at: i64,
    /// The folder it works on.
    #[serde(with = "stored_path")]
    pub root: PathBuf,
}

/// A closed turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub begun: Begun,
    /// By path.
    pub changed: Vec<Change>,
    pub status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Change {
    #[serde(with = "stored_path")]
    pub path: PathBuf,
    pub before: State,
    pub after: State,
    /// Whether a tool announced the change.
    #[serde(default)]
    pub named: bool,
}

/// Whether a turn's changes are in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    Done,
    Undoing,
    /// Undone at this time, in milliseconds.
    Undone(i64),
    Redoing,
}

impl Record {
    /// The record of the turn `id`; `None` if it was evicted or never closed.
    pub fn load(store: &Store, id: &str) -> Result<Option<Self>, UndoError> {
        if id.is_empty()
            || !id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Ok(None);
        }
        let path = store.turns().join(id).join(RECORD);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(UndoError::io("can't read", &path)(error)),
        };
        let record = serde_json::from_slice(&bytes);
        record.map(Some).map_err(|error| UndoError::Damaged {
            path,
            what: error.to_string(),
        })
    }

    /// True if an undo or redo of it was interrupted.
    pub fn is_under_way(&self) -> bool {
        matches!(self.status, Status::Undoing | Status::Redoing)
    }

    pub fn save(&self, store: &Store) -> Result<(), UndoError> {
        let path = store.turns().join(&self.begun.id).join(RECORD);
        let json = serde_json::to_vec(self).map_err(io::Error::other);
        let written = json.and_then(|json| {
            store.note_written(json.len() as u64);
            write_whole(&path, &json)
        });
        written.map_err(UndoError::io("can't write", &path))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    Begun(Begun),
    Before(Before),
    After {
        #[serde(with = "stored_path")]
        path: PathBuf,
        /// `None` when written again.
        state: Option<State>,
    },
    /// Earlier states after writes are invalid.
    Command,
}

/// The state of a path before a change by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Before {
    #[serde(with = "stored_path")]
    pub path: PathBuf,
    pub state: State,
    /// Whether the tree around it was scanned before. If so, that scan takes precedence.
    #[serde(default)]
    pub late: bool,
}

/// The journal of an open turn, owned exclusively.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    file: FileLock,
    trees: usize,
}

/// The content of a journal.
#[derive(Debug)]
pub(super) struct Said {
    pub begun: Begun,
    /// Paths changed by name.
    pub befores: Vec<Before>,
    /// The trees before the first command.
    pub trees: Vec<Arc<Tree>>,
    /// States right after writes, if no command has run since.
    pub afters: HashMap<PathBuf, State>,
}

impl Journal {
    pub fn create(store: &Store, begun: &Begun) -> Result<Self, UndoError> {
        let folder = store.turns().join(&begun.id);
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(UndoError::io("can't create", &folder))?;
        let path = folder.join(JOURNAL);
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        let file = options.open(&path);
        let file = file.map_err(UndoError::io("can't create", &path))?;
        file.try_lock()
            .map_err(|error| UndoError::io("can't lock", &path)(error.into()))?;
        let mut journal = Self {
            folder,
            file: FileLock(file),
            trees: 0,
        };
        journal.append(&[Line::Begun(begun.clone())])?;
        Ok(journal)
    }

    /// Stores the states of these paths without syncing, like the copies. A killed process loses
    /// nothing; a power cut may.
    pub fn before(&mut self, befores: &[Before]) -> Result<(), UndoError> {
        let lines = befores.iter().cloned().map(Line::Before);
        self.append(&lines.collect::<Vec<_>>())
    }

    /// Stores the states of paths right after a write.
    pub fn after(&mut self, afters: &[(PathBuf, Option<State>)]) -> Result<(), UndoError> {
        let lines = afters.iter().map(|(path, state)| Line::After {
            path: path.clone(),
            state: state.clone(),
        });
        self.append(&lines.collect::<Vec<_>>())
    }

    pub fn command(&mut self) -> Result<(), UndoError> {
        self.append(&[Line::Command])
    }

    /// Stores a tree, completely or not at all.
    pub fn tree(&mut self, tree: &Tree) -> Result<(), UndoError> {
        let path = self.folder.join(format!("{LISTING}{}", self.trees));
        let new = path.with_extension("new");
        let written = tree.to_bytes().and_then(|bytes| fs::write(&new, bytes));
        let written = written.and_then(|()| fs::rename(&new, &path));
        written.map_err(UndoError::io("can't write", &path))?;
        self.trees += 1;
        Ok(())
    }

    fn append(&mut self, lines: &[Line]) -> Result<(), UndoError> {
        let mut bytes = Vec::new();
        for line in lines {
            let json = serde_json::to_writer(&mut bytes, line).map_err(io::Error::other);
            json.map_err(UndoError::io("can't write to", &self.folder))?;
            bytes.push(b'\n');
        }
        let written = self.file.0.write_all(&bytes);
        written.map_err(UndoError::io("can't write to", &self.folder))
    }

    /// Closes it: records these changes, or nothing.
    pub fn close(self, store: &Store, record: &Record) -> Result<(), UndoError> {
        if record.changed.is_empty() {
            let removed = fs::remove_dir_all(&self.folder);
            return removed.map_err(UndoError::io("can't remove", &self.folder));
        }
        record.save(store)?;
        remove_open(&self.folder)
    }

    /// Takes over the journal of a turn left open by a dead process, if there is one.
    pub fn take_over(folder: &Path) -> Result<Option<(Self, Said)>, UndoError> {
        let path = folder.join(JOURNAL);
        let mut options = OpenOptions::new();
        let file = match options.read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(UndoError::io("can't open", &path)(error)),
        };
        if file.try_lock().is_err() {
            return Ok(None);
        }
        if folder.join(RECORD).exists() {
            // Its owner had nothing left to do except this.
            remove_open(folder)?;
            return Ok(None);
        }
        let Some(said) = read(folder, &file)? else {
            // Nothing had changed yet.
            let removed = fs::remove_dir_all(folder);
            removed.map_err(UndoError::io("can't remove", folder))?;
            return Ok(None);
        };
        let journal = Self {
            folder: folder.to_owned(),
            trees: said.trees.len(),
            file: FileLock(file),
        };
        Ok(Some((journal, said)))
    }
}

/// The paths named since `since` by turns of sessions other than `session`.
pub(super) fn named_by_others(
    store: &Store,
    session: &str,
    since: SystemTime,
) -> Result<HashSet<PathBuf>, UndoError> {
    let mut named = HashSet::new();
    for (folder, id) in folders(&store.turns())? {
        let meta = fs::metadata(&folder).and_then(|meta| meta.modified());
        if folder.join(RECORD).exists() && meta.is_ok_and(|modified| modified < since) {
            continue;
        }
        if let Some(record) = Record::load(store, &id).unwrap_or_default() {
            let changed = record.changed.into_iter().filter(|change| change.named);
            if record.begun.session != session {
                named.extend(changed.map(|change| change.path));
            }
        } else if let Ok(Some(said)) = read_open(&folder)
            && said.begun.session != session
        {
            named.extend(said.befores.into_iter().map(|before| before.path));
        }
    }
    Ok(named)
}

/// The size of the record in a turn's folder.
pub(super) fn record_size(folder: &Path) -> u64 {
    let meta = fs::metadata(folder.join(RECORD));
    meta.map_or(0, |meta| meta.len())
}

/// The subfolders of a folder with their names. Ignores files that a file manager adds.
pub(super) fn folders(folder: &Path) -> Result<Vec<(PathBuf, String)>, UndoError> {
    entries(folder, |kind| kind.is_dir())
}

pub(super) fn files(folder: &Path) -> Result<Vec<(PathBuf, String)>, UndoError> {
    entries(folder, |kind| kind.is_file())
}

fn entries(
    folder: &Path,
    wanted: impl Fn(fs::FileType) -> bool,
) -> Result<Vec<(PathBuf, String)>, UndoError> {
    let entries = fs::read_dir(folder).map_err(UndoError::io("can't read", folder))?;
    let named = entries.flatten().filter_map(|entry| {
        let is_wanted = entry.file_type().is_ok_and(&wanted);
        let name = entry.file_name().into_string().ok()?;
        is_wanted.then(|| (entry.path(), name))
    });
    Ok(named.collect())
}

/// Reads the journal in `folder`, whoever owns it; `None` if even its header is missing.
pub(super) fn read_open(folder: &Path) -> Result<Option<Said>, UndoError> {
    match File::open(folder.join(JOURNAL)) {
        Ok(file) => read(folder, &file),
        Err(_) => Ok(None),
    }
}

fn read(folder: &Path, file: &File) -> Result<Option<Said>, UndoError> {
    let (mut begun, mut befores, mut afters) = (None, Vec::new(), HashMap::new());
    for line in BufReader::new(file).lines() {
        let line = line.map_err(UndoError::io("can't read", &folder.join(JOURNAL)))?;
        match serde_json::from_str(&line) {
            Ok(Line::Begun(it)) => begun = Some(it),
            Ok(Line::Before(before)) => befores.push(before),
            Ok(Line::After { path, state }) => drop(match state {
                Some(state) => afters.insert(path, state),
                None => afters.remove(&path),
            }),
            Ok(Line::Command) => afters.clear(),
            // The last line of a killed process: that change never happened.
            Err(_) => break,
        }
    }
    let mut trees = Vec::new();
    while let Ok(bytes) = fs::read(folder.join(format!("{LISTING}{}", trees.len()))) {
        let tree = Tree::from_bytes(&bytes);
        let tree = tree.map_err(|error| UndoError::Damaged {
            path: folder.join(format!("{LISTING}{}", trees.len())),
            what: error.to_string(),
        })?;
        trees.push(Arc::new(tree));
    }
    Ok(begun.map(|begun| Said {
        begun,
        befores,
        trees,
        afters,
    }))
}

fn remove_open(folder: &Path) -> Result<(), UndoError> {
    for at in 0.. {
        if fs::remove_file(folder.join(format!("{LISTING}{at}"))).is_err() {
            break;
        }
    }
    let path = folder.join(JOURNAL);
    fs::remove_file(&path).map_err(UndoError::io("can't remove", &path))
}
