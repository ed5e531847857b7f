//! Caches each session's list data in one file, so that listing reads only changed sessions.
//! Nothing depends on it: a missing or broken index is empty, and unsaved data is read again.

use std::collections::HashMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use super::head::SessionHead;
use super::list::StoredSession;
use tiller_llm::replace_file::replace_file;

const NAME: &str = ".index.json";
/// Format version; other versions are ignored.
const VERSION: u32 = 2;
/// Most reader threads, and the fewest sessions for one.
const THREADS: usize = 4;
const FEW: usize = 64;

/// The heads of all sessions in one folder.
#[derive(Debug)]
pub struct SessionIndex {
    place: PathBuf,
    rows: HashMap<PathBuf, Row>,
    changed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    size: u64,
    changed: i64,
    /// End of the last complete line read.
    read: u64,
    #[serde(flatten)]
    head: SessionHead,
    /// Whether the session is known to exist.
    #[serde(skip)]
    seen: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored<R> {
    version: u32,
    rows: R,
}

impl SessionIndex {
    /// Loads the index of the sessions in `root`.
    pub fn load(root: &Path) -> Self {
        let place = root.join(NAME);
        let text = std::fs::read(&place).unwrap_or_default();
        let stored = serde_json::from_slice::<Stored<HashMap<PathBuf, Row>>>(&text).ok();
        let stored = stored.filter(|stored| stored.version == VERSION);
        Self {
            place,
            rows: stored.map(|stored| stored.rows).unwrap_or_default(),
            changed: false,
        }
    }

    /// Reads the changed sessions among `sessions`, in parallel.
    pub fn read_new(&mut self, sessions: &[StoredSession]) {
        let mut unread = Vec::new();
        for session in sessions {
            match self.rows.get_mut(&session.path) {
                Some(row) if row.is_of(session) => row.seen = true,
                _ => unread.push((session, self.rows.remove(&session.path))),
            }
        }
        self.changed |= !unread.is_empty();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let share = unread.len().div_ceil(threads.min(THREADS)).max(FEW);
        let read = |share: &[(&StoredSession, Option<Row>)]| -> Vec<(PathBuf, Row)> {
            let row = |(session, known): &(&StoredSession, Option<Row>)| {
                Some((session.path.clone(), Row::read(session, known.as_ref())?))
            };
            share.iter().filter_map(row).collect()
        };
        thread::scope(|scope| {
            let spawn = |share| thread::Builder::new().spawn_scoped(scope, move || read(share));
            let mut shares = unread.chunks(share);
            let first = shares.next().unwrap_or_default();
            let others: Vec<_> = shares.map(|share| (share, spawn(share))).collect();
            self.rows.extend(read(first));
            for (share, other) in others {
                let rows = other.ok().and_then(|other| other.join().ok());
                // Without threads, reads them here.
                self.rows.extend(rows.unwrap_or_else(|| read(share)));
            }
        });
    }

    /// The list data of `session`; empty if unreadable.
    pub fn head(&mut self, session: &StoredSession) -> SessionHead {
        if let Some(row) = self
            .rows
            .get(&session.path)
            .filter(|row| row.is_of(session))
        {
            return row.head.clone();
        }
        self.read_new(std::slice::from_ref(session));
        let row = self.rows.get(&session.path);
        row.map(|row| row.head.clone()).unwrap_or_default()
    }

    /// Saves the index if it changed, without removed sessions.
    pub fn save(mut self) {
        if !self.changed {
            return;
        }
        self.rows.retain(|path, row| row.seen || path.exists());
        let stored = Stored {
            version: VERSION,
            rows: &self.rows,
        };
        let written = serde_json::to_string(&stored)
            .map_err(std::io::Error::from)
            .and_then(|text| replace_file(&self.place, &text, None));
        if let Err(error) = written {
            tracing::warn!("no index at {}: {error}", self.place.display());
        }
    }
}

impl Row {
    fn is_of(&self, session: &StoredSession) -> bool {
        (self.size, self.changed) == (session.size, session.changed)
    }

    /// Reads a changed session; for a grown one, only the new part.
    fn read(session: &StoredSession, known: Option<&Self>) -> Option<Self> {
        let (head, read) = match known {
            Some(row) if row.size < session.size && !row.head.title.is_empty() => {
                let mut head = row.head.clone();
                let read = head.read_on(&session.path, row.read).ok()?;
                (head, read)
            }
            _ => SessionHead::read(&session.path).ok()?,
        };
        Some(Self {
            size: session.size,
            changed: session.changed,
            read,
            head,
            seen: true,
        })
    }
}
