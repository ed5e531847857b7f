//! `tiller steer`: sends a message to a running session from outside, and prints the result.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::agent::session::{PresenceRecord, live_sessions};
use crate::app::args::SteerArgs;
use crate::app::humanize::abbreviate_home;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::plan::working_folder;
use crate::app::sanitize::for_terminal;
use crate::app::sessions::{is_id_or_file, short_id};
use crate::app::steer::{
    Disposition, MAX_LINE, MAX_MESSAGE, SteerCommand, SteerRequest, SteerResponse, to_line,
};

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most sessions to list in an error.
const LISTED: usize = 8;

/// Sends the message to its session.
pub fn steer(what: &SteerArgs, root: &Path, home: Option<&Path>) -> Result<Outcome, StartError> {
    // The words of a message need no quotes; without them, only an id or a file is a session.
    let (wanted, text) = match what.words.as_slice() {
        [session, text] if text == "-" || text.contains(' ') => {
            (Some(session.as_str()), text.clone())
        }
        [session, text @ ..] if session.is_empty() || is_id_or_file(session) => {
            (Some(session.as_str()), text.join(" "))
        }
        text => (None, text.join(" ")),
    };
    let message = if text == "-" { piped()? } else { text };
    if message.trim().is_empty() {
        return Err(StartError::usage("the message is empty"));
    }
    let live = live_sessions(root);
    let record = choose(&live, wanted, home)?;
    let command = if what.follow_up {
        SteerCommand::FollowUp
    } else {
        SteerCommand::Steer
    };
    let request = SteerRequest {
        id: None,
        r#type: command,
        message,
        session: Some(record.id.clone()),
    };
    let response = ask(record, &request)?;
    let session = short_id(&record.id);
    let text = match (response.data, command) {
        (Some(taken), _) if taken.disposition == Disposition::Started => {
            format!("Started a run in session {session}\n")
        }
        (Some(_), SteerCommand::Steer) => {
            format!(
                "Steering session {session}: the model gets it before its next tool or model call\n"
            )
        }
        (Some(_), SteerCommand::FollowUp) => {
            format!("Queued in session {session} until its run is done\n")
        }
        (None, _) => {
            let error = response.error.unwrap_or_default();
            return Err(StartError::failed(format!(
                "session {session} didn't accept the message: {error}"
            )));
        }
    };
    Ok(out::print(&for_terminal(&text)))
}

/// The session to send to: the one named, or the only one in this folder.
fn choose<'a>(
    live: &'a [PresenceRecord],
    wanted: Option<&str>,
    home: Option<&Path>,
) -> Result<&'a PresenceRecord, StartError> {
    let cwd = working_folder(None);
    let fits = |record: &&PresenceRecord| match (wanted, &cwd) {
        (Some(wanted), _) => {
            !wanted.is_empty()
                && (record.id.starts_with(wanted)
                    || record.id.ends_with(wanted)
                    || record.path == Path::new(wanted))
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
        "{what}. Choose one, for example tiller steer {} \"TEXT\":\n{}",
        short_id(&first.id),
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

/// Sends one line and reads one.
fn ask(record: &PresenceRecord, request: &SteerRequest) -> Result<SteerResponse, StartError> {
    let session = short_id(&record.id);
    let Some(socket) = &record.socket else {
        return Err(StartError::failed(format!(
            "session {session} (process {}) doesn't accept messages yet. Try again, or read its log",
            record.pid
        )));
    };
    let failed = |error: io::Error| {
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
    };
    let exchange = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&to_line(request))?;
        let mut line = Vec::new();
        BufReader::new(stream)
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    };
    exchange().map_err(failed)
}

fn piped() -> Result<String, StartError> {
    let mut bytes = Vec::new();
    let read = io::stdin()
        .lock()
        .take(MAX_MESSAGE as u64 + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| StartError::failed(format!("can't read stdin: {error}")))?;
    if bytes.len() > MAX_MESSAGE {
        return Err(StartError::usage(
            "the piped message is over 1 MiB. Write it to a file and name the file in the message",
        ));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
