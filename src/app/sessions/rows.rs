//! The sessions of one folder or of all folders, as rows of a list.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::title::title_of;
use crate::agent::session::folder::folder_for;
use crate::agent::session::{
    SessionIndex, SessionState, StoredSession, all_sessions, live_sessions, sessions_in,
};

/// Which sessions to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// Those of the working folder.
    #[default]
    Folder,
    /// Those of all folders.
    All,
}

/// A stored session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Its name, if the user gave it one.
    pub name: Option<String>,
    /// A title made from its first prompt.
    pub title: String,
    /// Its folder; empty if the file doesn't say.
    pub cwd: String,
    /// Last change, as Unix time in milliseconds.
    pub changed: i64,
    /// File size in bytes.
    pub size: u64,
    /// Its state in the program that has it open.
    pub state: SessionState,
}

impl SessionRow {
    /// Its name, or else its title.
    pub fn label(&self) -> &str {
        match self.name.as_deref().unwrap_or(&self.title) {
            "" => "(no prompt)",
            label => label,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state != SessionState::Closed
    }
}

/// Lists the sessions in `scope`, seen from the folder `cwd`, most recent first.
pub fn rows(root: &Path, cwd: &Path, scope: SessionScope) -> Result<Vec<SessionRow>, String> {
    let stored = stored(root, cwd, scope)?;
    let states = states(root);
    let mut index = SessionIndex::load(root);
    index.read_new(&stored);
    let rows = stored.into_iter();
    let rows = rows.map(|session| row(session, &states, &mut index));
    let rows = rows.collect();
    index.save();
    Ok(rows)
}

pub(super) fn row(
    session: StoredSession,
    states: &HashMap<PathBuf, SessionState>,
    index: &mut SessionIndex,
) -> SessionRow {
    let head = index.head(&session);
    let state = states.get(&session.path).copied();
    SessionRow {
        title: title_of(&head.title),
        name: head.name,
        cwd: head.cwd,
        changed: session.changed,
        size: session.size,
        state: state.unwrap_or(SessionState::Closed),
        id: session.id,
        path: session.path,
    }
}

pub fn states(root: &Path) -> HashMap<PathBuf, SessionState> {
    let live = live_sessions(root).into_iter();
    live.map(|record| (record.path, record.state)).collect()
}

/// The session files in `scope`, most recent first.
pub(super) fn stored(
    root: &Path,
    cwd: &Path,
    scope: SessionScope,
) -> Result<Vec<StoredSession>, String> {
    let (folder, stored) = match scope {
        SessionScope::Folder => {
            let folder = folder_for(root, cwd);
            let stored = sessions_in(&folder);
            (folder, stored)
        }
        SessionScope::All => (root.to_owned(), all_sessions(root)),
    };
    stored.map_err(|error| format!("{}: {error}", folder.display()))
}
