//! `tiller steer`: sends a message to a running session from outside, and prints the result.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::running_session::{PATIENCE, choose, connect, unreachable};
use crate::agent::session::{PresenceRecord, live_sessions};
use crate::app::args::SteerArgs;
use crate::app::humanize::shell_word;
use crate::app::out;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::{is_id_or_file, short_id};
use crate::app::steer::{
    Disposition, MAX_LINE, MAX_MESSAGE, SteerCommand, SteerRequest, SteerResponse, to_line,
};

/// Sends the message to its session.
pub fn steer(what: &SteerArgs, root: &Path, home: Option<&Path>) -> Result<Outcome, StartError> {
    // Of several words, the first is always the session: a mistyped one must not become part of a message to
    // another session.
    let (wanted, text) = match what.words.as_slice() {
        [text] if !is_id_or_file(text) => (None, text.clone()),
        [session, text @ ..] => (Some(session.as_str()), text.join(" ")),
        [] => (None, String::new()),
    };
    let message = if text == "-" { piped()? } else { text };
    if message.trim().is_empty() {
        return Err(StartError::usage("the message is empty"));
    }
    let live = live_sessions(root);
    let record = choose(&live, wanted, home, "tiller steer SESSION \"TEXT\"");
    let record = record.map_err(|error| with_quotes(error, what))?;
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

/// Adds how to send all words to the session of this folder.
fn with_quotes(mut error: StartError, what: &SteerArgs) -> StartError {
    let text = what.words.join(" ");
    if what.words.len() > 1 && !text.ends_with(" -") {
        let text = shell_word(Path::new(&text));
        error.message = format!(
            "{}\nOr is it all one message to the session in this folder? Quote it: tiller steer {text}",
            error.message
        );
    }
    error
}

/// Sends one line and reads one.
fn ask(record: &PresenceRecord, request: &SteerRequest) -> Result<SteerResponse, StartError> {
    let exchange = |mut stream: UnixStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&to_line(request))?;
        let mut line = Vec::new();
        BufReader::new(stream)
            .take(MAX_LINE as u64)
            .read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    };
    exchange(connect(record)?).map_err(|error| unreachable(record, &error))
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
