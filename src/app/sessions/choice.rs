//! Which session a run goes on with, how it is opened, and why it cannot be.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::find::find;
use crate::agent::session::folder::folder_for;
use crate::agent::session::{
    History, OpenError, Session, StoredSession, live_sessions, ready_trial, sessions_in,
};
use crate::app::args::RunArgs;
use crate::app::humanize::plural;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;

/// The session a run goes on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A new one.
    New,
    /// The one in this file.
    Open(PathBuf),
    /// A copy of the one in this file.
    Fork(PathBuf),
}

/// A session that is ready to go on, and what the user should read about it.
pub struct Opened {
    /// The session.
    pub session: Session,
    /// The conversation at its leaf.
    pub history: History,
    /// What the user should read about it.
    pub notices: Vec<String>,
}

/// Why a session is not opened as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another process has it open.
    InUse {
        /// Its number, if it says so.
        pid: Option<u32>,
    },
    /// The folder it works in is gone.
    FolderGone(String),
    /// It may not be read, or not be written.
    Denied,
    /// It has no entry of the id that was asked for.
    NoEntry,
    /// Anything else, for which there is no way but the one that is told.
    Other,
}

/// A session that was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its file.
    pub path: PathBuf,
    /// Why.
    pub why: Refusal,
    /// The same for users, without the way out.
    pub message: String,
}

impl Choice {
    /// What the command line says.
    pub fn of(args: &RunArgs, root: &Path, cwd: &Path) -> Result<Self, StartError> {
        if let Some(wanted) = &args.session {
            return find(wanted, root).map(Self::Open);
        }
        if let Some(wanted) = &args.fork {
            return find(wanted, root).map(Self::Fork);
        }
        if !args.go_on {
            return Ok(Self::New);
        }
        let folder = folder_for(root, cwd);
        let stored = sessions_in(&folder).map_err(|error| {
            StartError::failed(format!("cannot read {}: {error}", folder.display()))
        })?;
        match stored.first() {
            Some(last) => Ok(Self::Open(last.path.clone())),
            None => Err(StartError::usage(format!(
                "no session in {} to go on with; tiller sessions --all lists those of all folders",
                cwd.display()
            ))),
        }
    }

    /// The folder that the session works in; a new one and very old ones do not say.
    pub fn folder(&self) -> Result<Option<PathBuf>, Refused> {
        let (Self::Open(path) | Self::Fork(path)) = self else {
            return Ok(None);
        };
        let Some(cwd) = StoredSession::at(path).cwd() else {
            return Ok(None);
        };
        let folder = PathBuf::from(&cwd);
        if !folder.is_dir() {
            return Err(Refused {
                message: format!("the folder of the session is gone: {}", for_terminal(&cwd)),
                why: Refusal::FolderGone(cwd),
                path: path.clone(),
            });
        }
        Ok(Some(folder))
    }

    /// Opens it for the working directory `cwd`, to go on from the leaf or from the entry `at`.
    pub fn open(&self, root: &Path, cwd: &Path, at: Option<&str>) -> Result<Opened, Refused> {
        let (path, opened) = match self {
            Self::New => return Ok(Opened::new(root, cwd)),
            Self::Open(path) => match Session::open(root, path) {
                // Version 1 had no ids; it stays as it is.
                Err(OpenError::Version(1)) => (path, Session::fork(root, path, cwd)),
                opened => (path, opened),
            },
            Self::Fork(path) => (path, Session::fork(root, path, cwd)),
        };
        let (mut session, problems) = opened.map_err(|error| Refused::of(root, path, &error))?;
        let notices = problems.into_iter();
        let mut notices: Vec<String> = notices
            .map(|problem| format!("{}: {problem}", path.display()))
            .collect();
        if let Some(at) = at {
            let node = session.tree().find(at).ok_or_else(|| Refused {
                path: path.clone(),
                why: Refusal::NoEntry,
                message: format!("the session {} has no entry '{at}'", path.display()),
            })?;
            notices.extend(session.go_to(Some(node)).map(|(_, notice)| notice));
        }
        notices.extend(ready_trial(&mut session));
        let history = session.history();
        if history.damaged > 0 {
            let entries = plural(history.damaged as u64, "entry", "entries");
            notices.push(format!(
                "{entries} of the conversation cannot be read; the file keeps them as they are: {}",
                path.display()
            ));
        }
        Ok(Opened {
            session,
            history,
            notices,
        })
    }
}

impl Opened {
    /// A new session of the folder `cwd`.
    pub fn new(root: &Path, cwd: &Path) -> Self {
        Self {
            session: Session::create(root, cwd),
            history: History::default(),
            notices: Vec::new(),
        }
    }

    /// A session that is not stored.
    pub fn unstored(cwd: &Path) -> Self {
        Self {
            session: Session::unstored(cwd),
            history: History::default(),
            notices: Vec::new(),
        }
    }
}

impl Refused {
    fn of(root: &Path, path: &Path, error: &OpenError) -> Self {
        let shown = path.display();
        let (why, reason) = match error {
            OpenError::InUse => {
                let live = live_sessions(root);
                let by = live.iter().find(|record| record.path == path);
                let pid = by.map(|record| record.pid);
                let by = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
                (Refusal::InUse { pid }, format!("{error}{by}"))
            }
            OpenError::Version(_) => (Refusal::Other, format!("{error}; a newer tiller opens it")),
            OpenError::Io(io) if io.kind() == ErrorKind::PermissionDenied => {
                (Refusal::Denied, error.to_string())
            }
            OpenError::Io(_) => (Refusal::Other, error.to_string()),
        };
        Self {
            path: path.to_owned(),
            why,
            message: format!("cannot open the session {shown}: {reason}"),
        }
    }
}

impl From<Refused> for StartError {
    /// For the command line: with the flags that lead on.
    fn from(refused: Refused) -> Self {
        let shown = refused.path.display();
        let (outcome, way_out) = match &refused.why {
            Refusal::InUse { .. } => (
                Outcome::Failed,
                format!("; leave it there, or go on with a copy: tiller --fork {shown}"),
            ),
            Refusal::FolderGone(_) => (
                Outcome::Usage,
                format!("; tiller -C DIR --fork {shown} goes on with a copy in another folder"),
            ),
            Refusal::Denied => (
                Outcome::Failed,
                format!("; if it may be read, go on with a copy: tiller --fork {shown}"),
            ),
            Refusal::NoEntry => (Outcome::Usage, String::new()),
            Refusal::Other => (Outcome::Failed, String::new()),
        };
        Self {
            message: format!("{}{way_out}", refused.message),
            outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_way_out() {
        let (root, path) = (Path::new("/nowhere"), Path::new("/nowhere/x/T_i.jsonl"));
        let denied = std::io::Error::from(ErrorKind::PermissionDenied);
        for (error, texts) in [
            (OpenError::Io(denied), &["--fork /nowhere"][..]),
            (OpenError::InUse, &["--fork /nowhere"]),
            (OpenError::Version(4), &["version 4", "newer tiller"]),
        ] {
            let error = StartError::from(Refused::of(root, path, &error)).message;
            assert!(error.contains("/nowhere/x/T_i.jsonl"), "{error}");
            for text in texts {
                assert!(error.contains(text), "{error}");
            }
        }
    }
}
