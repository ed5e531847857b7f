//! Effects on stored sessions and their results, as data.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::session::{Found, SessionState};
use crate::app::sessions::{Choice, Recent, Refused, SessionFacts, SessionRow, SessionScope};
use crate::app::tui::popups::TextSearch;

/// A side effect on stored sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEffect {
    /// List them.
    List(SessionScope),
    /// Find the latest one of the folder.
    ReadRecent,
    /// Search the text of all of them.
    Search(String, SessionScope),
    /// Read a preview of the one in this file.
    Preview(PathBuf),
    /// Read all facts about the one in this file.
    ReadFacts(PathBuf),
    /// Read what the open ones are doing.
    ReadStates,
    /// Cancel searching and reading.
    StopReading,
    /// Rename the one in this file.
    Rename(PathBuf, String),
    /// Move the one in this file to the trash.
    Remove(PathBuf),
    /// Switch to another one.
    Open(Choice),
    /// Switch to the one in this file as soon as no other process has it open.
    Wait(PathBuf),
    /// Stop waiting for it.
    StopWaiting,
}

/// The result of a [`SessionEffect`].
#[derive(Clone, Debug)]
pub enum SessionResult {
    /// The list, or an error.
    List(SessionScope, Result<Vec<SessionRow>, String>),
    /// The latest session, if any.
    Recent(Option<Recent>),
    /// Those whose text matches a query, and whether more may follow.
    Found(String, Vec<(PathBuf, Found)>, TextSearch),
    /// A preview of one, or an error.
    Preview(PathBuf, Result<Arc<SessionFacts>, String>),
    /// All facts about one, or an error.
    Facts(Result<Box<SessionFacts>, String>),
    /// The states of open sessions.
    States(HashMap<PathBuf, SessionState>),
    /// One was renamed, or an error.
    Renamed(PathBuf, String, Result<(), String>),
    /// The trash folder that one was moved to, or an error.
    Removed(PathBuf, Result<PathBuf, String>),
    /// Another one is opening, with notices for the user, or was refused.
    Opened(Result<Vec<String>, Refused>),
    /// It can't be opened, and no answer of the user would help.
    NotOpened(String),
}
