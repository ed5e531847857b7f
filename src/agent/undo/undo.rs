//! The way in for an agent: it says what is about to happen, and everything that has to be covered is
//! on disk when the answer comes. Blocks: callers run it off the threads of the runtime.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::apply::{Kept, Step, apply, keep_present, plan};
use super::cover::{Copies, Limits};
use super::error::UndoError;
use super::history::{Direction, load, next};
use super::open_turn::OpenTurn;
use super::preview::{Preview, preview};
use super::quota::{evict, names};
use super::record::{Begun, Record, Status};
use super::state::Lost;
use super::store::Store;

/// A file may take this part of what all may take, the files of one tree that.
const FILE_PART: u64 = 8;
const TREE_PART: u64 = 4;

/// Keeps what turns change, so that it can be undone.
#[derive(Debug)]
pub struct Undo {
    home: PathBuf,
    max_bytes: u64,
    /// Of the turn that begins with the next change. Never held for long.
    next: Mutex<Option<Prompt>>,
    state: Mutex<State>,
}

/// What a turn answers to.
#[derive(Clone, Debug, Default)]
struct Prompt {
    session: String,
    text: String,
}

#[derive(Debug, Default)]
struct State {
    store: Option<Store>,
    open: Option<OpenTurn>,
    prompt: Prompt,
    copies: Copies,
    /// Turns that were evicted since anybody was told.
    evicted: usize,
}

/// What came of covering something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The id of the turn, if it has begun with this.
    pub begun: Option<String>,
    /// Files that are not covered, each with the reason.
    pub uncovered: Vec<(PathBuf, &'static str)>,
    /// How many turns were evicted since the last time: they can no longer be undone.
    pub evicted: usize,
}

impl Undo {
    /// Keeps at most `max_bytes` of contents in the folder `home`. Nothing is done there yet.
    pub fn new(home: PathBuf, max_bytes: u64) -> Self {
        Self {
            home,
            max_bytes,
            next: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// What is changed from now on answers to this prompt in that session.
    pub fn prompt(&self, session: &str, text: &str) {
        *lock(&self.next) = Some(Prompt {
            session: session.to_owned(),
            text: text.to_owned(),
        });
    }

    /// Covers these paths (absolute, links in them followed), which are about to be written by work in
    /// the folder `cwd`.
    ///
    /// # Errors
    /// They cannot be covered.
    pub fn before_write(&self, cwd: &Path, paths: &[PathBuf]) -> Result<Covered, UndoError> {
        self.cover(cwd, |turn, store, _, limits| {
            turn.before_write(paths, store, limits)
        })
    }

    /// Covers everything in the working tree around `cwd` that a command could change. Costs nothing
    /// but the first time in a turn.
    ///
    /// # Errors
    /// It cannot be covered.
    pub fn before_command(&self, cwd: &Path) -> Result<Covered, UndoError> {
        let root = root_of(cwd);
        self.cover(cwd, |turn, store, copies, limits| {
            turn.before_command(&root, store, copies, limits)
        })
    }

    fn cover(
        &self,
        cwd: &Path,
        cover: impl FnOnce(
            &mut OpenTurn,
            &Store,
            &mut Copies,
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
                open.close(&store)?;
            }
        }
        let begun = match &state.open {
            Some(_) => None,
            None => Some(uuid::Uuid::now_v7().to_string()),
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
        let uncovered = cover(open, &store, &mut state.copies, self.limits())?;
        Ok(Covered {
            begun,
            uncovered: (uncovered.into_iter())
                .map(|(path, lost)| (path, lost.why()))
                .collect(),
            evicted: std::mem::take(&mut state.evicted),
        })
    }

    /// Ends the turn: what changes from now on is none of its doing.
    ///
    /// # Errors
    /// What it has changed cannot be recorded.
    pub fn close(&self) -> Result<(), UndoError> {
        let mut state = lock(&self.state);
        let Some(open) = state.open.take() else {
            return Ok(());
        };
        let store = self.store(&mut state.store)?;
        let lock = store.lock()?;
        open.close(&store)?;
        drop(lock);
        state.evicted += evict(&store, self.max_bytes)?;
        Ok(())
    }

    /// Completes what was cut short: turns, and of the turns `path` the undoing and redoing. Gives the
    /// turns of `session` that are not among `path`: it was cut short before they were stored there.
    ///
    /// # Errors
    /// What is kept cannot be read or written.
    pub fn recover(&self, session: &str, path: &[String]) -> Result<Vec<String>, UndoError> {
        if !self.home.exists() {
            return Ok(Vec::new());
        }
        let store = self.store(&mut lock(&self.state).store)?;
        let _lock = store.lock()?;
        for mut record in load(&store, path)? {
            match record.status {
                Status::Undoing => drop(self.carry_out(&mut record, Direction::Undo, &store)?),
                Status::Redoing => drop(self.carry_out(&mut record, Direction::Redo, &store)?),
                Status::Done | Status::Undone(_) => {}
            }
        }
        let mut unknown = Vec::new();
        for (_, id) in names(&store.turns())? {
            if !path.contains(&id)
                && let Some(record) = Record::load(&store, &id)?
                && record.begun.session == session
            {
                unknown.push(id);
            }
        }
        unknown.sort();
        Ok(unknown)
    }

    /// What undoing or redoing the next turn would change, of the turns `path`, the oldest first. None
    /// where there is none.
    ///
    /// # Errors
    /// What is kept cannot be read.
    pub fn preview(
        &self,
        path: &[String],
        direction: Direction,
    ) -> Result<Option<Preview>, UndoError> {
        self.close()?;
        let store = self.store(&mut lock(&self.state).store)?;
        let records = load(&store, path)?;
        let Some(record) = next(&records, direction).map(|at| &records[at]) else {
            return Ok(None);
        };
        let (todo, kept) = plan(steps_of(record, direction), &store);
        Ok(Some(preview(direction, record, &todo, kept, &store)))
    }

    /// Undoes or redoes `turn`, which must be the next one of the turns `path`. Gives what stayed as it
    /// is, and why.
    ///
    /// # Errors
    /// Another turn is the next one, or what is kept cannot be read or written.
    pub fn go(
        &self,
        path: &[String],
        direction: Direction,
        turn: &str,
    ) -> Result<Vec<Kept>, UndoError> {
        self.close()?;
        let store = self.store(&mut lock(&self.state).store)?;
        let _lock = store.lock()?;
        let records = load(&store, path)?;
        let record = next(&records, direction).map(|at| records[at].clone());
        let record = record.filter(|record| record.begun.id == turn);
        let Some(mut record) = record else {
            let text = "another turn is the next one by now: look again";
            return Err(UndoError::Refused(text.to_owned()));
        };
        self.carry_out(&mut record, direction, &store)
    }

    fn carry_out(
        &self,
        record: &mut Record,
        direction: Direction,
        store: &Store,
    ) -> Result<Vec<Kept>, UndoError> {
        let steps = record.clone();
        let (todo, mut kept) = plan(steps_of(&steps, direction), store);
        keep_present(&todo, store, self.limits().file)?;
        record.status = match direction {
            Direction::Undo => Status::Undoing,
            Direction::Redo => Status::Redoing,
        };
        record.save(store)?;
        kept.extend(apply(&todo, store));
        record.status = match direction {
            Direction::Undo => Status::Undone(jiff::Timestamp::now().as_millisecond()),
            Direction::Redo => Status::Done,
        };
        record.save(store)?;
        Ok(kept)
    }

    fn limits(&self) -> Limits {
        Limits {
            file: self.max_bytes / FILE_PART,
            tree: self.max_bytes / TREE_PART,
        }
    }

    /// The store. Whoever opens it first completes the turns that were left open by those who are gone.
    fn store(&self, open: &mut Option<Store>) -> Result<Store, UndoError> {
        if let Some(store) = open {
            return Ok(store.clone());
        }
        let store = Store::open(&self.home)?;
        let _lock = store.lock()?;
        for (folder, _) in names(&store.turns())? {
            if let Some(turn) = OpenTurn::take_over(&folder)? {
                turn.close(&store)?;
            }
        }
        Ok(open.insert(store).clone())
    }
}

/// What has to be done for it.
fn steps_of(record: &Record, direction: Direction) -> Vec<Step<'_>> {
    let steps = record.changed.iter().map(|change| {
        let (from, to) = match direction {
            Direction::Undo => (&change.after, &change.before),
            Direction::Redo => (&change.before, &change.after),
        };
        Step {
            path: &change.path,
            from,
            to,
        }
    });
    steps.collect()
}

/// The top of the working tree around `cwd`; that folder itself where there is none.
fn root_of(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let mut above = cwd.ancestors();
    let top = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
    top.unwrap_or(&cwd).to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
