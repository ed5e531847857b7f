//! The interface for an agent. The agent announces what it will change, and when the call returns,
//! everything is covered on disk. Blocks, so callers run it off the runtime's threads.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::cover::Limits;
use super::error::UndoError;
use super::go::finish_if_done;
use super::history::load;
use super::looks::Looks;
use super::open_turn::{OpenTurn, covered};
use super::quota::evict;
use super::record::{Begun, Change, Record, Status, folders};
use super::state::{self, Lost};
use super::store::Store;
use crate::git::project_root;
use crate::hash;
use crate::lock::lock;
use crate::new_id::new_id;

/// One file may take an eighth of the limit, and the files of one tree a quarter.
const FILE_PART: u64 = 8;
const TREE_PART: u64 = 4;

/// Records what turns change, so that they can be undone.
#[derive(Debug)]
pub struct Undo {
    home: PathBuf,
    max_bytes: u64,
    /// The turn that begins with the next change. Never locked for long.
    next: Mutex<Option<Prompt>>,
    prompts: AtomicU64,
    is_open: AtomicBool,
    state: Mutex<State>,
}

/// The prompt that a turn belongs to.
#[derive(Clone, Debug, Default)]
struct Prompt {
    session: String,
    text: String,
}

#[derive(Debug)]
struct State {
    store: Option<Store>,
    open: Option<OpenTurn>,
    prompt: Prompt,
    looks: Looks,
    /// Uncovered files already reported to the user.
    told: HashSet<PathBuf>,
    /// Evicted turns not yet reported.
    evicted: usize,
    /// Whether evictions were reported.
    told_evicted: bool,
    /// Size of the store in bytes, as far as this process knows.
    used: Option<u64>,
}

/// The result of covering something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The turn's id, if this began it.
    pub begun: Option<String>,
    /// Uncovered files with reasons.
    pub uncovered: Vec<(PathBuf, &'static str)>,
    /// Number of evicted turns that can no longer be undone; reported only once.
    pub evicted: usize,
}

impl Undo {
    /// Stores at most `max_bytes` in the folder `home`. Touches no disk yet.
    pub fn new(home: PathBuf, max_bytes: u64) -> Self {
        let state = State {
            store: None,
            open: None,
            prompt: Prompt::default(),
            looks: Looks::new(home.parent().unwrap_or(&home)),
            told: HashSet::new(),
            evicted: 0,
            told_evicted: false,
            used: None,
        };
        Self {
            home,
            max_bytes,
            next: Mutex::default(),
            prompts: AtomicU64::default(),
            is_open: AtomicBool::default(),
            state: Mutex::new(state),
        }
    }

    /// Attributes later changes to this prompt in that session.
    pub fn prompt(&self, session: &str, text: &str) {
        self.prompts.fetch_add(1, Ordering::Relaxed);
        *lock(&self.next) = Some(Prompt {
            session: session.to_owned(),
            text: text.to_owned(),
        });
    }

    /// Covers these paths (absolute, with links resolved) before a write from the folder `cwd`.
    pub fn before_write(&self, cwd: &Path, paths: &[PathBuf]) -> Result<Covered, UndoError> {
        // A write may change a file under its other names too.
        let has_names = |path: &PathBuf| {
            let meta = path.symlink_metadata();
            meta.is_ok_and(|meta| meta.is_file() && meta.nlink() > 1)
        };
        let tree = paths.iter().any(has_names).then(|| root_of(cwd));
        self.cover(cwd, |turn, store, looks, limits| {
            if let Some(root) = tree {
                turn.before_command(&root, store, looks, limits)?;
            }
            turn.before_write(paths, store, limits)
        })
    }

    /// Covers everything that a command could change in the working tree around `cwd`. Does nothing
    /// after the first time in a turn.
    pub fn before_command(&self, cwd: &Path) -> Result<Covered, UndoError> {
        let root = root_of(cwd);
        self.cover(cwd, |turn, store, looks, limits| {
            let uncovered = turn.before_command(&root, store, looks, limits)?;
            turn.covered.insert(cwd.to_owned());
            Ok(uncovered)
        })
    }

    /// Covers in advance for [`Self::before_command`], which then takes a third of the time. Only
    /// for the first scan; begins no turn.
    pub fn look_ahead(&self, cwd: &Path) {
        // Whoever holds the lock scans anyway.
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        let (state, root) = (&mut *state, root_of(cwd));
        if state.looks.last(&root).is_some() {
            return;
        }
        // If this fails, it fails again and is reported when the command comes.
        let covered = self.store(&mut state.store).and_then(|store| {
            let _lock = store.lock()?;
            covered(
                &root,
                &store,
                &mut state.looks,
                &HashSet::new(),
                self.limits(),
            )
        });
        if let Err(error) = covered {
            tracing::debug!("undo: {error}");
        }
    }

    /// True if [`Self::before_command`] has nothing to do for this folder. Never waits.
    pub fn covers_command(&self, cwd: &Path) -> bool {
        if lock(&self.next).is_some() {
            return false;
        }
        let state = self.state.try_lock();
        let open = state.as_ref().ok().and_then(|state| state.open.as_ref());
        open.is_some_and(|open| open.covers_command(cwd))
    }

    /// Records what these paths hold right after a write announced with `before_write`. Later
    /// content may come from others.
    pub fn after_write(&self, paths: &[PathBuf]) -> Result<(), UndoError> {
        match &mut lock(&self.state).open {
            Some(open) => open.after_write(paths),
            None => Ok(()),
        }
    }

    /// Notes that a command deleted these paths, which git ignores. Returns those that a file tool hadn't
    /// saved.
    pub fn note_deleted(&self, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, UndoError> {
        match &mut lock(&self.state).open {
            Some(open) => open.note_deleted(paths),
            None => Ok(paths),
        }
    }

    fn cover(
        &self,
        cwd: &Path,
        cover: impl FnOnce(
            &mut OpenTurn,
            &Store,
            &mut Looks,
            Limits,
        ) -> Result<Vec<(PathBuf, Lost)>, UndoError>,
    ) -> Result<Covered, UndoError> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let store = self.store(&mut state.store)?;
        let _lock = store.lock()?;
        if let Some(prompt) = lock(&self.next).take() {
            state.prompt = prompt;
            if let Some(open) = state.open.take() {
                open.close(&store, &mut state.looks)?;
            }
            self.is_open.store(false, Ordering::Relaxed);
        }
        let begun = match &state.open {
            Some(_) => None,
            None => Some(format!("{}{}", new_id(), tag(&state.prompt.session))),
        };
        let open = match (&mut state.open, &begun) {
            (Some(open), _) => open,
            (none, id) => none.insert(OpenTurn::begin(
                &store,
                Begun {
                    id: id.clone().unwrap_or_default(),
                    session: state.prompt.session.clone(),
                    prompt: state.prompt.text.clone(),
                    at: jiff::Timestamp::now().as_millisecond(),
                    root: root_of(cwd),
                },
            )?),
        };
        self.is_open.store(true, Ordering::Relaxed);
        let mut uncovered = cover(open, &store, &mut state.looks, self.limits())?;
        uncovered.retain(|(path, _)| state.told.insert(path.clone()));
        let evicted = if state.told_evicted {
            0
        } else {
            std::mem::take(&mut state.evicted)
        };
        state.told_evicted |= evicted > 0;
        Ok(Covered {
            begun,
            uncovered: (uncovered.into_iter())
                .map(|(path, lost)| (path, lost.why()))
                .collect(),
            evicted,
        })
    }

    /// The files that commands changed in `session`, latest last. Excludes files that tools changed
    /// by name, and undone changes.
    pub fn changed_by_commands(&self, session: &str) -> Result<Vec<PathBuf>, UndoError> {
        if !self.home.exists() {
            return Ok(Vec::new());
        }
        let mut state = lock(&self.state);
        let state = &mut *state;
        let store = self.store(&mut state.store)?;
        let tag = tag(session);
        let ids = folders(&store.turns())?.into_iter().map(|(_, id)| id);
        let mut ids: Vec<String> = ids.filter(|id| id.ends_with(&tag)).collect();
        ids.sort();
        let mut records = load(&store, &ids)?;
        records.retain(|it| it.status == Status::Done && it.begun.session == session);
        let mut changed: Vec<Change> = records.into_iter().flat_map(|it| it.changed).collect();
        let open = state.open.as_ref();
        if let Some(open) = open.filter(|open| open.said.begun.session == session) {
            changed.extend(open.changed(&store, &mut state.looks)?);
        }
        changed.retain(|change| !change.named && is_file(change));
        Ok(changed.into_iter().map(|change| change.path).collect())
    }

    /// Ends the turn; later changes don't belong to it. Returns how many files it changed.
    pub fn close(&self) -> Result<u64, UndoError> {
        self.close_open(&mut lock(&self.state))
    }

    /// The same, unless a newer prompt has begun.
    pub fn close_of(&self, prompt: u64) -> Result<(), UndoError> {
        let mut state = lock(&self.state);
        if self.prompt_number() == prompt {
            self.close_open(&mut state)?;
        }
        Ok(())
    }

    /// Number of prompts so far.
    pub fn prompt_number(&self) -> u64 {
        self.prompts.load(Ordering::Relaxed)
    }

    /// True if a turn is open.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    fn close_open(&self, state: &mut State) -> Result<u64, UndoError> {
        let Some(open) = state.open.take() else {
            return Ok(0);
        };
        self.is_open.store(false, Ordering::Relaxed);
        let store = self.store(&mut state.store)?;
        let locked = store.lock()?;
        let closed = open.close(&store, &mut state.looks)?;
        drop(locked);
        // Adding up the whole store takes a while.
        let added = store.written.swap(0, Ordering::Relaxed);
        state.used = state.used.map(|used| used + added);
        if state.used.is_none_or(|used| used > self.max_bytes) {
            let evicted = evict(&store, self.max_bytes)?;
            state.evicted += evicted.turns;
            state.used = Some(evicted.used);
        }
        let changed = closed.iter().flat_map(|record| &record.changed);
        Ok(changed.filter(|change| is_file(change)).count() as u64)
    }

    /// Completes interrupted turns. Doesn't touch files of the turns in `path`: their undo or redo
    /// may have been interrupted, and they are next in line. Returns those turns, and those of
    /// `session` that it ended before storing (`known` are all its turns).
    pub fn recover(
        &self,
        session: &str,
        path: &[String],
        known: &[String],
    ) -> Result<Vec<String>, UndoError> {
        let mut path = path.to_vec();
        if !self.home.exists() {
            return Ok(path);
        }
        self.close()?;
        let store = self.opened()?;
        let _lock = store.lock()?;
        for mut record in load(&store, &path)? {
            finish_if_done(&mut record, &store);
        }
        let tag = tag(session);
        for (_, id) in folders(&store.turns())? {
            if id.ends_with(&tag)
                && !known.contains(&id)
                && let Ok(Some(record)) = Record::load(&store, &id)
                && record.begun.session == session
            {
                // Ids sort by time unless the clock was set back.
                let before = path.iter().rposition(|known| *known < id);
                path.insert(before.map_or(0, |before| before + 1), id);
            }
        }
        Ok(path)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            file: self.max_bytes / FILE_PART,
            tree: self.max_bytes / TREE_PART,
        }
    }

    pub(super) fn opened(&self) -> Result<Store, UndoError> {
        self.store(&mut lock(&self.state).store)
    }

    /// The store. The first to open it completes turns left open by processes that are gone.
    fn store(&self, open: &mut Option<Store>) -> Result<Store, UndoError> {
        if let Some(store) = open {
            return Ok(store.clone());
        }
        let store = Store::open(&self.home)?;
        let _lock = store.lock()?;
        let mut looks = Looks::new(store.data());
        for (folder, _) in folders(&store.turns())? {
            let closed = OpenTurn::take_over(&folder)
                .and_then(|turn| turn.map_or(Ok(None), |turn| turn.close(&store, &mut looks)));
            // A damaged turn must not prevent covering others.
            if let Err(error) = closed {
                tracing::warn!("undo: {error}");
            }
        }
        Ok(open.insert(store).clone())
    }
}

/// The suffix of a session's turn ids, which spares reading other sessions' turns.
fn tag(session: &str) -> String {
    let hash = hash::of_bytes(session.as_bytes());
    format!("-{}", &hash[..8])
}

/// The top of the working tree around `cwd`, or else `cwd`.
fn root_of(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    project_root(&cwd).to_owned()
}

/// True for a file, not a link or a folder.
fn is_file(change: &Change) -> bool {
    let is_file = |state: &state::State| matches!(state, state::State::File { .. });
    is_file(&change.before) || is_file(&change.after)
}
