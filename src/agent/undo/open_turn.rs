//! The current turn: covers files before they change, and records the changes at its end.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compare::{compare, is_born_since};
use super::cover::{Limits, cover, uncovered};
use super::error::UndoError;
use super::look::{look, look_and_keep};
use super::looks::Looks;
use super::record::{Before, Begun, Change, Journal, Record, Said, Status, named_by_others};
use super::repository::is_ignored;
use super::state::{Content, Lost, State};
use super::store::Store;
use super::tree::Tree;

/// A turn that may still change files.
#[derive(Debug)]
pub(super) struct OpenTurn {
    journal: Journal,
    pub(super) said: Said,
    /// The paths of `said.befores`.
    known: HashSet<PathBuf>,
    /// The folders where commands can run without covering more.
    pub(super) covered: HashSet<PathBuf>,
}

impl OpenTurn {
    pub fn begin(store: &Store, begun: Begun) -> Result<Self, UndoError> {
        let journal = Journal::create(store, &begun)?;
        let said = Said {
            begun,
            befores: Vec::new(),
            trees: Vec::new(),
            afters: HashMap::new(),
        };
        Ok(Self {
            journal,
            said,
            known: HashSet::new(),
            covered: HashSet::new(),
        })
    }

    /// Continues a turn left open by a dead process; `None` without one, or without its files.
    pub fn take_over(folder: &Path) -> Result<Option<Self>, UndoError> {
        let taken = Journal::take_over(folder)?;
        let taken = taken.filter(|(_, said)| {
            said.begun.root.is_dir() && said.trees.iter().all(|tree| tree.root.is_dir())
        });
        Ok(taken.map(|(journal, said)| Self {
            known: said.befores.iter().map(|it| it.path.clone()).collect(),
            covered: HashSet::new(),
            journal,
            said,
        }))
    }

    /// Covers these paths and the folders to create for them. Returns the uncovered ones.
    pub fn before_write(
        &mut self,
        paths: &[PathBuf],
        store: &Store,
        limits: Limits,
    ) -> Result<Vec<(PathBuf, Lost)>, UndoError> {
        let again = paths
            .iter()
            .filter(|path| self.said.afters.contains_key(*path));
        let again: Vec<_> = again.map(|path| (path.clone(), None)).collect();
        if !again.is_empty() {
            self.journal.after(&again)?;
            (self.said.afters).retain(|path, _| !paths.contains(path));
        }
        let mut states: HashMap<PathBuf, State> = HashMap::new();
        for path in paths {
            for path in path.ancestors() {
                if self.known.contains(path) || states.contains_key(path) || self.has_seen(path) {
                    break;
                }
                let state = if self.is_new(path) {
                    State::Nothing
                } else {
                    look_and_keep(path, store, limits)?
                };
                let is_missing = state == State::Nothing;
                if !matches!(state, State::Folder(_)) {
                    states.insert(path.to_owned(), state);
                }
                if !is_missing {
                    break;
                }
            }
        }
        if states.is_empty() {
            return Ok(Vec::new());
        }
        let befores = states.into_iter().map(|(path, state)| Before {
            late: (self.said.trees.iter()).any(|tree| path.starts_with(&tree.root)),
            path,
            state,
        });
        let befores: Vec<Before> = befores.collect();
        self.journal.before(&befores)?;
        (self.known).extend(befores.iter().map(|before| before.path.clone()));
        let lost = befores.iter().filter_map(|before| match &before.state {
            State::File { content, .. } => Some((before.path.clone(), content.lost?)),
            _ => None,
        });
        let lost = lost.collect();
        self.said.befores.extend(befores);
        Ok(lost)
    }

    /// True if the turn itself created the path. Unknown for files that git ignores.
    fn is_new(&self, path: &Path) -> bool {
        let mut around = self.said.trees.iter();
        let around = around.find(|tree| path.starts_with(&tree.root));
        around.is_some_and(|tree| {
            tree.is_whole
                && path != tree.root
                && (is_born_since(path, tree.taken) || tree.has_file_of(path))
                && !is_ignored(&tree.root, path)
        })
    }

    /// True if a scanned tree covers the path.
    fn has_seen(&self, path: &Path) -> bool {
        self.said.trees.iter().any(|tree| {
            let below = path.strip_prefix(&tree.root);
            below.is_ok_and(|below| tree.get(below).is_some())
        })
    }

    /// Records what these paths hold right after a write; later content may come from others.
    pub fn after_write(&mut self, paths: &[PathBuf]) -> Result<(), UndoError> {
        let named = paths.iter().filter(|path| self.known.contains(*path));
        let afters = named.map(|path| (path.clone(), Some(look(path))));
        let afters: Vec<(PathBuf, Option<State>)> = afters.collect();
        self.journal.after(&afters)?;
        let afters = afters.into_iter();
        (self.said.afters).extend(afters.filter_map(|(path, state)| Some((path, state?))));
        Ok(())
    }

    /// Records that these paths are gone, without a copy. Returns those that weren't covered before.
    pub fn note_deleted(&mut self, mut paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, UndoError> {
        paths.retain(|path| !self.known.contains(path));
        let content = Content {
            lost: Some(Lost::Ignored),
            ..Content::default()
        };
        let befores = paths.iter().map(|path| Before {
            path: path.clone(),
            state: State::File {
                mode: 0,
                content: content.clone(),
            },
            late: false,
        });
        let befores: Vec<Before> = befores.collect();
        self.journal.before(&befores)?;
        (self.known).extend(paths.iter().cloned());
        self.said.befores.extend(befores);
        Ok(paths)
    }

    /// True if a command in `cwd` needs no more covering.
    pub fn covers_command(&self, cwd: &Path) -> bool {
        self.covered.contains(cwd) && self.said.afters.is_empty()
    }

    /// Covers the tree in `root` once. Returns the uncovered files.
    pub fn before_command(
        &mut self,
        root: &Path,
        store: &Store,
        looks: &mut Looks,
        limits: Limits,
    ) -> Result<Vec<(PathBuf, Lost)>, UndoError> {
        if !self.said.afters.is_empty() {
            // Files that a command creates from these belong to the turn too.
            self.journal.command()?;
            self.said.afters.clear();
        }
        if self.said.trees.iter().any(|tree| tree.root == root) {
            return Ok(Vec::new());
        }
        let tree = match covered(root, store, looks, &self.known, limits)? {
            Ok(tree) => tree,
            Err(lost) => return Ok(vec![(root.to_owned(), lost)]),
        };
        self.journal.tree(&tree)?;
        let mut uncovered = uncovered(&tree);
        if !tree.is_whole {
            uncovered.push((root.to_owned(), Lost::TooSlow));
        }
        self.said.trees.push(tree);
        Ok(uncovered)
    }

    /// The changes so far.
    pub fn changed(&self, store: &Store, looks: &mut Looks) -> Result<Vec<Change>, UndoError> {
        let said = &self.said;
        let others = match said.trees.iter().map(|tree| tree.taken).min() {
            Some(since) => named_by_others(store, &said.begun.session, since)?,
            None => HashSet::new(),
        };
        Ok(compare(
            &said.trees,
            &said.befores,
            &said.afters,
            &others,
            looks,
        ))
    }

    /// Ends the turn and returns its record, unless it changed nothing.
    pub fn close(self, store: &Store, looks: &mut Looks) -> Result<Option<Record>, UndoError> {
        let record = Record {
            changed: self.changed(store, looks)?,
            begun: self.said.begun,
            status: Status::Done,
        };
        self.journal.close(store, &record)?;
        Ok((!record.changed.is_empty()).then_some(record))
    }
}

/// Scans the tree in `root` and covers all of it except `known`.
pub(super) fn covered(
    root: &Path,
    store: &Store,
    looks: &mut Looks,
    known: &HashSet<PathBuf>,
    limits: Limits,
) -> Result<Result<Arc<Tree>, Lost>, UndoError> {
    if std::env::home_dir().is_some_and(|home| home.starts_with(root)) {
        return Ok(Err(Lost::Home));
    }
    let Some(mut tree) = looks.first(root) else {
        return Ok(Err(Lost::TooSlow));
    };
    let base = looks.last(root);
    cover(&mut tree, base.as_deref(), store, known, limits)?;
    let tree = Arc::new(tree);
    looks.keep(&tree);
    Ok(Ok(tree))
}
