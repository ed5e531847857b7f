//! Which session a run goes on with: a new one, the last of the folder, one that is named, or a
//! copy of it. Also finds sessions by what users call them.

use std::path::{Path, PathBuf};

use super::args::RunArgs;
use super::outcome::StartError;
use super::sanitize::for_terminal;
use crate::agent::session::folder::folder_for;
use crate::agent::session::{
    OpenError, Session, SessionIndex, StoredSession, all_sessions, live_sessions, sessions_in,
};

/// Most sessions an error lists.
const LISTED: usize = 5;
/// Characters of a short id.
const SHORT_ID: usize = 12;
/// Most sessions of a list on the screen.
const MAX_ROWS: usize = 1_000;

/// The session a run goes on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one in this file.
    Open(PathBuf),
    /// A copy of the one in this file.
    Fork(PathBuf),
}

/// A session that is ready to go on, and what the user should read about it.
pub struct Opened {
    /// The session.
    pub session: Session,
    /// What the user should read about it.
    pub notices: Vec<String>,
}

impl Opened {
    /// A new session of the folder `cwd`.
    pub fn new(root: &Path, cwd: &Path) -> Self {
        Self {
            session: Session::create(root, cwd),
            notices: Vec::new(),
        }
    }
}

impl Choice {
    /// What the command line says; none for a new session.
    pub fn of(args: &RunArgs, root: &Path, cwd: &Path) -> Result<Option<Self>, StartError> {
        if let Some(wanted) = &args.session {
            return find(wanted, root).map(Self::Open).map(Some);
        }
        if let Some(wanted) = &args.fork {
            return find(wanted, root).map(Self::Fork).map(Some);
        }
        if !args.go_on {
            return Ok(None);
        }
        let folder = folder_for(root, cwd);
        let stored = sessions_in(&folder).map_err(|error| {
            StartError::failed(format!("cannot read {}: {error}", folder.display()))
        })?;
        match stored.first() {
            Some(last) => Ok(Some(Self::Open(last.path.clone()))),
            None => Err(StartError::usage(format!(
                "no session in {} to go on with; tiller sessions --all lists those of all folders",
                cwd.display()
            ))),
        }
    }

    /// The folder that the session works in; very old ones do not say.
    pub fn folder(&self) -> Result<Option<PathBuf>, StartError> {
        let (Self::Open(path) | Self::Fork(path)) = self;
        let cwd = StoredSession::at(path).head().cwd;
        if cwd.is_empty() {
            return Ok(None);
        }
        let folder = PathBuf::from(&cwd);
        if !folder.is_dir() {
            return Err(StartError::usage(format!(
                "the folder of the session is gone: {}; tiller -C DIR --fork {} goes on with a copy \
                 in another folder",
                for_terminal(&cwd),
                path.display()
            )));
        }
        Ok(Some(folder))
    }

    /// Opens it for the working directory `cwd`, to go on from the leaf or from the entry `at`.
    pub fn open(&self, root: &Path, cwd: &Path, at: Option<&str>) -> Result<Opened, StartError> {
        let (path, opened) = match self {
            Self::Open(path) => match Session::open(root, path) {
                // Version 1 had no ids; it stays as it is.
                Err(OpenError::Version(1)) => (path, Session::fork(root, path, cwd)),
                opened => (path, opened),
            },
            Self::Fork(path) => (path, Session::fork(root, path, cwd)),
        };
        let (mut session, problems) = opened.map_err(|error| refused(root, path, &error))?;
        let notices = problems.into_iter();
        let mut notices: Vec<String> = notices
            .map(|problem| format!("{}: {problem}", path.display()))
            .collect();
        if let Some(at) = at {
            let node = session.tree().find(at).ok_or_else(|| {
                StartError::usage(format!(
                    "the session {} has no entry '{at}'",
                    path.display()
                ))
            })?;
            notices.extend(session.go_to(Some(node)).map(|(_, notice)| notice));
        }
        Ok(Opened { session, notices })
    }
}

/// The file of the session that `wanted` names: its id, the beginning or the end of it, or its file.
pub fn find(wanted: &str, root: &Path) -> Result<PathBuf, StartError> {
    let path = Path::new(wanted);
    if wanted.contains('/') || path.extension().is_some_and(|it| it == "jsonl") {
        let missing = || StartError::usage(format!("no session file '{wanted}'"));
        return path.is_file().then(|| path.to_owned()).ok_or_else(missing);
    }
    let stored = all_sessions(root)
        .map_err(|error| StartError::failed(format!("cannot read {}: {error}", root.display())))?;
    let mut fitting = stored.iter();
    let fits = |it: &&StoredSession| it.id.starts_with(wanted) || it.id.ends_with(wanted);
    let fitting: Vec<&StoredSession> = fitting.by_ref().filter(fits).collect();
    let whole = fitting.iter().find(|it| it.id == wanted);
    match (whole, fitting.as_slice()) {
        (Some(one), _) | (None, [one]) if !wanted.is_empty() => Ok(one.path.clone()),
        (_, []) => Err(StartError::usage(format!(
            "no session '{wanted}': tiller sessions --all lists them"
        ))),
        (_, several) => {
            let ids: Vec<&str> = several
                .iter()
                .take(LISTED)
                .map(|it| it.id.as_str())
                .collect();
            Err(StartError::usage(format!(
                "'{wanted}' names {} sessions, among them {}: type more of the id",
                several.len(),
                ids.join(", ")
            )))
        }
    }
}

/// What names a session to users: the random end of its id, not the time it begins with.
pub fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHORT_ID - 1);
    start.map_or(id, |(start, _)| &id[start..])
}

/// A stored session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its file.
    pub path: PathBuf,
    /// Its name, or the first line of its first prompt.
    pub title: String,
    /// When it was last written to, as Unix time in milliseconds.
    pub changed: i64,
    /// Whether another program has it open.
    pub is_open: bool,
}

/// The sessions of `cwd` that were written to, the last first.
pub fn rows(root: &Path, cwd: &Path) -> Result<Vec<SessionRow>, String> {
    let folder = folder_for(root, cwd);
    let stored = sessions_in(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let live = live_sessions(root);
    let mut index = SessionIndex::load(root);
    let row = |session: StoredSession| SessionRow {
        title: index.head(&session).label().to_owned(),
        changed: session.changed,
        is_open: live.iter().any(|record| record.path == session.path),
        path: session.path,
    };
    let rows = stored.into_iter().take(MAX_ROWS).map(row).collect();
    index.save();
    Ok(rows)
}

fn refused(root: &Path, path: &Path, error: &OpenError) -> StartError {
    let shown = path.display();
    let way_out = match error {
        OpenError::InUse => {
            let live = live_sessions(root);
            let by = live.iter().find(|record| record.path == path);
            let by = by.map_or_else(String::new, |record| format!(" (process {})", record.pid));
            format!("{by}; leave it there, or go on with a copy: tiller --fork {shown}")
        }
        OpenError::Version(_) => String::from("; a newer tiller opens it"),
        OpenError::Io(_) => String::new(),
    };
    StartError::failed(format!("cannot open the session {shown}: {error}{way_out}"))
}
