//! What a list shows of each session, kept in one file beside them, so that listing reads none of them
//! that has not changed. Nothing depends on it: a broken or missing index is an empty one, and what
//! cannot be written is read again the next time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::head::SessionHead;
use super::list::StoredSession;
use crate::llm::replace_file::replace_file;

/// Its name in the folder of all sessions.
const NAME: &str = ".index.json";
/// Version of its form; another one is no index.
const VERSION: u32 = 1;

/// The heads of the sessions below one folder.
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
    /// The end of the last whole line that was read.
    read: u64,
    #[serde(flatten)]
    head: SessionHead,
}

#[derive(Serialize, Deserialize)]
struct Stored<R> {
    version: u32,
    rows: R,
}

impl SessionIndex {
    /// The index of the sessions below `root`.
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

    /// What a list shows of `session`; nothing where it cannot be read.
    pub fn head(&mut self, session: &StoredSession) -> SessionHead {
        let known = self.rows.remove(&session.path);
        let (size, changed) = (session.size, session.changed);
        let row = match known {
            Some(row) if (row.size, row.changed) == (size, changed) => row,
            known => {
                let Some((head, read)) = read(session, known) else {
                    return SessionHead::default();
                };
                self.changed = true;
                Row {
                    size,
                    changed,
                    read,
                    head,
                }
            }
        };
        let head = row.head.clone();
        self.rows.insert(session.path.clone(), row);
        head
    }

    /// Writes it, if something has changed, without the sessions that are gone.
    pub fn save(mut self) {
        if !self.changed {
            return;
        }
        self.rows.retain(|path, _| path.exists());
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

/// Reads a session that has changed: of one that has grown, what is new.
fn read(session: &StoredSession, known: Option<Row>) -> Option<(SessionHead, u64)> {
    match known {
        Some(row) if row.size < session.size && !row.head.title.is_empty() => {
            let mut head = row.head;
            let read = head.read_on(&session.path, row.read).ok()?;
            Some((head, read))
        }
        _ => SessionHead::read(&session.path).ok(),
    }
}
