//! What `update` asks for about stored sessions, and what comes back, as data.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::overlay::TextSearch;
use crate::agent::session::{Found, SessionState};
use crate::app::sessions::{Choice, Recent, Refused, SessionFacts, SessionRow, SessionScope};

/// A side effect on stored sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEffect {
    /// Read which there are.
    List(SessionScope),
    /// Read which one of the folder was used last.
    ReadRecent,
    /// Search the text of all for this.
    Search(String, SessionScope),
    /// Read what is known of the one in this file.
    Preview(PathBuf),
    /// Read what is known of the one in this file, to show all of it.
    ReadFacts(PathBuf),
    /// Look what the open ones are doing.
    ReadStates,
    /// Nobody waits any more for what is searched or read.
    StopReading,
    /// Give the one in this file another name.
    Rename(PathBuf, String),
    /// Move the one in this file to the trash.
    Remove(PathBuf),
    /// Go on with another one.
    Open(Choice),
    /// Go on with the one in this file as soon as nobody has it open any more.
    Wait(PathBuf),
    /// Wait for it no longer.
    StopWaiting,
}

/// The result of a [`SessionEffect`].
#[derive(Clone, Debug)]
pub enum SessionResult {
    /// Those there are, or why they cannot be read.
    List(SessionScope, Result<Vec<SessionRow>, String>),
    /// The one that was used last, if there is one.
    Recent(Option<Recent>),
    /// Those that have the words of a query in their text, and whether more may follow.
    Found(String, Vec<(PathBuf, Found)>, TextSearch),
    /// What is known of one, or why nothing is.
    Preview(PathBuf, Result<Arc<SessionFacts>, String>),
    /// All that is known of one, or why nothing is.
    Facts(Result<Box<SessionFacts>, String>),
    /// What those that some process has open are doing.
    States(HashMap<PathBuf, SessionState>),
    /// One got this name, or why it did not.
    Renamed(PathBuf, String, Result<(), String>),
    /// One was moved into this folder of the trash, or why it was not.
    Removed(PathBuf, Result<PathBuf, String>),
    /// Another one is being opened, with what the user should read, or it cannot be.
    Opened(Result<Vec<String>, Refused>),
    /// It cannot be opened, and there is nothing to choose.
    NotOpened(String),
}
