//! Finds a running session, and connects to the socket of its program.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::agent::session::PresenceRecord;
use crate::app::humanize::abbreviate_home;
use crate::app::outcome::StartError;
use crate::app::plan::working_folder;
use crate::app::sessions::short_id;

/// Time limit for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Fewest characters of an id: a word such as `a` must not name a session.
const LEAST: usize = 4;
/// Most sessions to list in an error.
const LISTED: usize = 8;

/// The session to talk to: the one named, or the only one in this folder. `example` is a command for the error,
/// with SESSION for the session.
pub(super) fn choose<'a>(
    live: &'a [PresenceRecord],
    wanted: Option<&str>,
    home: Option<&Path>,
    example: &str,
) -> Result<&'a PresenceRecord, StartError> {
    let cwd = working_folder(None);
    let fits = |record: &&PresenceRecord| match (wanted, &cwd) {
        (Some(wanted), _) => {
            let is_part = record.id.starts_with(wanted) || record.id.ends_with(wanted);
            is_part && wanted.len() >= LEAST || record.path == Path::new(wanted)
        }
        (None, Ok(cwd)) => Path::new(&record.cwd) == cwd,
        (None, Err(_)) => false,
    };
    let fitting: Vec<&PresenceRecord> = live.iter().filter(fits).collect();
    if let [one] = fitting.as_slice() {
        return Ok(one);
    }
    let (candidates, what) = match (wanted, fitting.is_empty()) {
        (Some(wanted), true) => (
            live.iter().collect(),
            format!("no running session '{wanted}'"),
        ),
        (Some(wanted), false) => (fitting, format!("'{wanted}' matches several sessions")),
        (None, true) => (
            live.iter().collect(),
            "no session is running in this folder".to_owned(),
        ),
        (None, false) => (
            fitting,
            "several sessions are running in this folder".to_owned(),
        ),
    };
    let Some(first) = candidates.first() else {
        let nothing = "no session is running, in any folder. Start one: tiller";
        return Err(StartError::usage(nothing));
    };
    let list = candidates.iter().take(LISTED);
    let list: Vec<String> = list.map(|record| line(record, home)).collect();
    Err(StartError::usage(format!(
        "{what}. Choose one, for example {}:\n{}",
        example.replace("SESSION", short_id(&first.id)),
        list.join("\n")
    )))
}

fn line(record: &PresenceRecord, home: Option<&Path>) -> String {
    format!(
        "  {}  {}  {}",
        short_id(&record.id),
        record.state.as_str(),
        abbreviate_home(Path::new(&record.cwd), home)
    )
}

/// Connects to the session's program.
pub(super) fn connect(record: &PresenceRecord) -> Result<UnixStream, StartError> {
    let Some(socket) = &record.socket else {
        return Err(StartError::failed(format!(
            "session {} (process {}) doesn't accept messages yet. Try again, or read its log",
            short_id(&record.id),
            record.pid
        )));
    };
    UnixStream::connect(socket).map_err(|error| unreachable(record, &error))
}

/// The connection failed, or no answer came.
pub(super) fn unreachable(record: &PresenceRecord, error: &io::Error) -> StartError {
    let session = short_id(&record.id);
    let socket = record.socket.as_deref().unwrap_or(Path::new("?"));
    let text = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(
            "session {session} (process {}) didn't answer within {} s. If it is stopped, it may \
             read the message when it continues",
            record.pid,
            PATIENCE.as_secs()
        ),
        _ => format!(
            "can't reach session {session} at {}: {error}; tiller status lists running sessions",
            socket.display()
        ),
    };
    StartError::failed(text)
}
