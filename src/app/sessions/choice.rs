//! Chooses the session for a run, opens it, and explains why it can't be opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::find::{find, is_id_or_file, short_id};
use super::title::title_of;
use crate::agent::session::folder::folder_for;
use crate::agent::session::{
    Body, HistoryFacts, OpenError, Session, SessionView, StoredSession, live_sessions, ready_trial,
    sessions_in,
};
use crate::app::args::RunArgs;
use crate::app::humanize::plural;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::llm::message::content_text;
use crate::llm::os_error::plain;

/// How often to check whether a session is free.
pub const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The session to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A new session.
    New,
    /// The session in this file.
    Open(PathBuf),
    /// A copy of the session in this file.
    Fork(PathBuf),
    /// A copy of the current branch of the session in this file.
    Clone(PathBuf),
    /// The session in this file, read-only.
    Look(PathBuf),
    /// A new session with this file's entries up to this id, or up to the one before a prompt.
    ForkAt(PathBuf, String),
}

/// An open session, and notices about it for the user.
pub struct Opened {
    pub session: Session,
    pub facts: HistoryFacts,
    pub notices: Vec<String>,
    /// The prompt that the fork starts before.
    pub prompt: Option<String>,
}

/// Why a session wasn't opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another process has it open.
    InUse {
        /// The process that has it open, if known.
        pid: Option<u32>,
    },
    /// Its folder is gone.
    FolderGone(String),
    /// It belongs to this folder, not to the current one.
    OtherFolder(PathBuf),
    /// No permission to read or write it.
    Denied,
    /// It has no entry with that id.
    NoEntry,
    /// Any other error, without an alternative to offer.
    Other,
}

/// A session that wasn't opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its file.
    pub path: PathBuf,
    /// Its name or title; empty if unreadable.
    pub label: String,
    /// Why.
    pub why: Refusal,
    /// The reason, for the user, without a suggestion.
    pub reason: String,
}

impl Choice {
    /// The choice that the command line makes.
    pub fn of(args: &RunArgs, root: &Path, cwd: &Path) -> Result<Self, StartError> {
        let open = if args.read_only {
            Self::Look
        } else {
            Self::Open
        };
        // `-r last commit broke it` is hardly meant for the last session.
        let is_last = args.resume.as_deref() == Some("last") && args.prompt.len() < 2;
        let named = args.resume.as_ref().filter(|wanted| !wanted.is_empty());
        if let Some(wanted) = named.filter(|_| !is_last) {
            let path = find(wanted, root)?;
            let head = StoredSession::at(&path).head();
            let is_named = is_id_or_file(wanted) && path.to_string_lossy().contains(wanted)
                || head.label().eq_ignore_ascii_case(wanted);
            // `-r fix the bug` must not send "the bug" to an old session about a fix.
            if args.prompt.is_empty() || is_named {
                return Ok(open(path));
            }
            let why = format!("no session has the id or name '{wanted}'; tiller -r lists them");
            return Err(StartError::usage(why));
        }
        if let Some(wanted) = &args.session {
            return find(wanted, root).map(open);
        }
        if let Some(wanted) = &args.fork {
            return find(wanted, root).map(Self::Fork);
        }
        if !args.go_on && !is_last {
            return Ok(Self::New);
        }
        let folder = folder_for(root, cwd);
        let stored = sessions_in(&folder).map_err(|error| {
            StartError::failed(format!("can't read {}: {error}", folder.display()))
        })?;
        // Folders with different names may share one here: /a-b and /a/b.
        let mut own = stored.iter().filter(|session| {
            let works_in = session.cwd();
            works_in.is_none_or(|works_in| is_same(Path::new(&works_in), cwd))
        });
        match own.next() {
            Some(last) => Ok(open(last.path.clone())),
            None => Err(StartError::usage(format!(
                "no session to resume in {}; tiller sessions --all lists those of all folders",
                cwd.display()
            ))),
        }
    }

    /// The session's folder, unless it is new or very old.
    pub fn folder(&self) -> Result<Option<PathBuf>, Refused> {
        let (Self::Open(path) | Self::Fork(path) | Self::ForkAt(path, _)) = self else {
            return Ok(None);
        };
        let Some(cwd) = StoredSession::at(path).cwd() else {
            return Ok(None);
        };
        let folder = PathBuf::from(&cwd);
        if !folder.is_dir() {
            let reason = format!("its folder is gone: {}", for_terminal(&cwd));
            return Err(Refused::new(path, Refusal::FolderGone(cwd), reason));
        }
        Ok(Some(folder))
    }

    /// Checks that the session belongs to `cwd` or to no known folder.
    pub fn fits(&self, cwd: &Path) -> Result<(), Refused> {
        let Self::Open(path) = self else {
            return Ok(());
        };
        let works_in = StoredSession::at(path).cwd();
        if works_in.is_some_and(|works_in| is_same(Path::new(&works_in), cwd)) {
            return Ok(());
        }
        match self.folder()? {
            Some(folder) => {
                let reason = format!("it works in {}", for_terminal(&folder.to_string_lossy()));
                Err(Refused::new(path, Refusal::OtherFolder(folder), reason))
            }
            None => Ok(()),
        }
    }

    /// Like [`open`](Self::open), but waits for another process that has it open, telling `say`.
    pub fn open_when_free(
        &self,
        root: &Path,
        cwd: &Path,
        at: Option<&str>,
        deadline: Option<Instant>,
        say: impl Fn(&str),
    ) -> Result<Result<Opened, Refused>, StartError> {
        let mut told = false;
        loop {
            match self.open(root, cwd, at) {
                Err(refused) if matches!(refused.why, Refusal::InUse { .. }) => {
                    if !std::mem::replace(&mut told, true) {
                        let waits = "waiting until it's free, Ctrl+C gives up";
                        say(&format!("{}; {waits}", refused.message()));
                    }
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Err(StartError::timed_out("the session was in use"));
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                opened => return Ok(opened),
            }
        }
    }

    /// Opens the session for the working folder `cwd`, at the leaf or at the entry `at`.
    pub fn open(&self, root: &Path, cwd: &Path, at: Option<&str>) -> Result<Opened, Refused> {
        let (path, opened) = match self {
            Self::New => return Ok(Opened::new(root, cwd)),
            Self::Open(path) => match Session::open(root, path) {
                // Version 1 had no ids. The old file stays unchanged.
                Err(OpenError::Version(1)) => (path, Session::fork(root, path, cwd)),
                opened => (path, opened),
            },
            Self::Fork(path) => (path, Session::fork(root, path, cwd)),
            Self::Look(path) => (path, Session::look(path)),
            Self::Clone(path) => return Opened::fork_at(root, path, cwd, None),
            Self::ForkAt(path, entry) => return Opened::fork_at(root, path, cwd, Some(entry)),
        };
        let (mut session, problems) = opened.map_err(|error| Refused::of(root, path, &error))?;
        let notices = problems.into_iter();
        let mut notices: Vec<String> = notices
            .map(|problem| format!("{}: {problem}", path.display()))
            .collect();
        if let Some(at) = at {
            let node = session.tree().find(at);
            let node = node.ok_or_else(|| Refused::no_entry(path, at))?;
            notices.extend(session.go_to(Some(node)).map(|(_, notice)| notice));
        }
        let facts = session.facts();
        if facts.damaged > 0 {
            let entries = plural(facts.damaged as u64, "entry", "entries");
            notices.push(format!(
                "{entries} of the conversation can't be read; they stay in the file: {}",
                path.display()
            ));
        }
        Ok(Opened {
            session,
            facts,
            notices,
            prompt: None,
        })
    }
}

impl Opened {
    /// Forks a session at `entry`, or copies its current branch and its name.
    fn fork_at(root: &Path, path: &Path, cwd: &Path, entry: Option<&str>) -> Result<Self, Refused> {
        let failed = |error: &OpenError| Refused::of(root, path, error);
        let view = SessionView::open(path).map_err(|error| failed(&error.into()))?;
        let (leaf, prompt) = match entry {
            None => (view.tree().leaf(), None),
            Some(entry) => {
                let node = view.tree().find(entry);
                view.fork_point(node.ok_or_else(|| Refused::no_entry(path, entry))?)
            }
        };
        let (mut session, notices) =
            Session::fork_at(root, &view, cwd, leaf).map_err(|error| failed(&error))?;
        // The session may have been named on another branch.
        if entry.is_none()
            && let Some(name) = view.tree().name()
            && session.tree().name() != Some(name)
        {
            let name = name.to_owned();
            session.append(Body::SessionInfo { name });
        }
        Ok(Self {
            facts: session.facts(),
            session,
            notices,
            prompt: prompt.map(|prompt| content_text(&prompt)),
        })
    }

    /// Adds the session's trial, found in the folder `trials`.
    pub fn with_trial(mut self, trials: &Path) -> Self {
        if let Some(notice) = ready_trial(&mut self.session, trials) {
            self.notices.push(notice);
            self.facts = self.session.facts();
        }
        self
    }

    pub fn new(root: &Path, cwd: &Path) -> Self {
        Self::empty(Session::create(root, cwd))
    }

    /// The error for a session without an available model.
    pub fn no_model(&self) -> StartError {
        let own = self.session.model().map(|own| {
            let (provider, id) = (for_terminal(&own.provider), for_terminal(&own.model_id));
            format!(": {provider}/{id} is no longer available")
        });
        StartError::failed(format!(
            "no model to resume the session with{}. Choose one with -m provider/id, or add a key: \
             tiller auth add anthropic",
            own.unwrap_or_default()
        ))
    }

    /// A session that isn't stored.
    pub fn unstored(cwd: &Path) -> Self {
        Self::empty(Session::unstored(cwd))
    }

    fn empty(session: Session) -> Self {
        Self {
            session,
            facts: HistoryFacts::default(),
            notices: Vec::new(),
            prompt: None,
        }
    }
}

/// True if both paths lead to the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // A session stores its folder as text.
    let as_text = other.to_string_lossy();
    one == other || one == Path::new(&*as_text) || whole(one) == whole(other)
}

impl Refused {
    fn no_entry(path: &Path, entry: &str) -> Self {
        Self::new(path, Refusal::NoEntry, format!("it has no entry '{entry}'"))
    }

    /// True if the user can choose how to continue.
    pub fn is_question(&self) -> bool {
        !matches!(self.why, Refusal::NoEntry | Refusal::Other)
    }

    fn new(path: &Path, why: Refusal, reason: String) -> Self {
        let head = StoredSession::at(path).head();
        Self {
            path: path.to_owned(),
            label: head.name.unwrap_or_else(|| title_of(&head.title)),
            why,
            reason: plain(reason),
        }
    }

    fn of(root: &Path, path: &Path, error: &OpenError) -> Self {
        let (why, reason) = match error {
            OpenError::InUse => {
                let live = live_sessions(root);
                let by = live.iter().find(|record| record.path == path);
                let pid = by.map(|record| record.pid);
                let by = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
                (Refusal::InUse { pid }, format!("{error}{by}"))
            }
            OpenError::Version(_) => (Refusal::Other, format!("{error}; update tiller to open it")),
            OpenError::Io(io) => {
                let denied = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
                let is_denied = denied.contains(&io.kind());
                let why = if is_denied {
                    Refusal::Denied
                } else {
                    Refusal::Other
                };
                (why, error.to_string())
            }
        };
        Self::new(path, why, reason)
    }

    /// The error without a suggestion.
    pub fn message(&self) -> String {
        let shown = self.path.display();
        format!("can't open the session {shown}: {}", self.reason)
    }
}

impl From<Refused> for StartError {
    /// Adds a suggestion with command-line flags.
    fn from(refused: Refused) -> Self {
        let shown = refused.path.display();
        let (outcome, way_out) = match &refused.why {
            Refusal::InUse { .. } => (Outcome::Failed, {
                let stored = StoredSession::at(&refused.path);
                let id = short_id(&stored.id);
                format!(
                    "\nContinue in a copy: tiller --fork {shown} (or use --wait or --read-only)\n\
                         Join it: tiller attach {id}, or send it a message: tiller steer {id} \"...\""
                )
            }),
            Refusal::FolderGone(_) => (
                Outcome::Usage,
                format!(
                    "\nContinue in a copy: tiller -C DIR --fork {shown} (or view it with --read-only)"
                ),
            ),
            Refusal::OtherFolder(folder) => (
                Outcome::Usage,
                format!(
                    "\nContinue there: tiller -C {} --session {shown}",
                    folder.display()
                ),
            ),
            Refusal::Denied => (
                Outcome::Failed,
                format!("\nIf you can read it, continue in a copy: tiller --fork {shown}"),
            ),
            Refusal::NoEntry => (
                Outcome::Usage,
                format!("\nList its entries: tiller sessions show --all {shown}"),
            ),
            Refusal::Other => (Outcome::Failed, String::new()),
        };
        let message = match &*way_out {
            "" => refused.message(),
            _ => format!("can't open the session: {}{way_out}", refused.reason),
        };
        Self { message, outcome }
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
            (
                OpenError::InUse,
                &["--fork /nowhere", "tiller attach i,", "tiller steer i "],
            ),
            (OpenError::Version(4), &["version 4", "update tiller"]),
        ] {
            let error = StartError::from(Refused::of(root, path, &error)).message;
            assert!(error.contains("/nowhere/x/T_i.jsonl"), "{error}");
            for text in texts {
                assert!(error.contains(text), "{error}");
            }
        }
    }
}
