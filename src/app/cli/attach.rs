//! `tiller attach`: watches and steers a running session from another terminal, with the full screen, or as
//! plain text where there is no terminal. Other programs use `--mode rpc`.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::attached_questions::Questions;
use super::attached_view::AttachedView;
use super::running_session::{PATIENCE, choose, connect, unreachable};
use crate::agent::session::{PresenceRecord, live_sessions};
use crate::app::args::AttachArgs;
use crate::app::outcome::{Outcome, StartError};
use crate::app::sanitize::for_terminal;
use crate::app::sessions::short_id;
use crate::app::steer::{AttachRequest, AttachResponse, ScreenRequest, to_line};
use crate::app::{commands, out};

/// How long the socket of a session that ends may stay.
const ENDING: Duration = Duration::from_secs(1);
/// Between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);

/// A terminal for the session's program to show its screen in, and what waits until it gives it back. That
/// returns the exit code and what to tell the user.
pub type ScreenOffer = (
    ScreenRequest,
    Box<dyn FnOnce(UnixStream) -> io::Result<(u8, Option<String>)>>,
);

/// Attaches until the session or stdin ends, with the full screen if there is a terminal to offer.
pub fn attach(
    what: &AttachArgs,
    root: &Path,
    home: Option<&Path>,
    offer: impl FnOnce() -> Option<ScreenOffer>,
) -> Result<Outcome, StartError> {
    let live = live_sessions(root);
    let record = choose(
        &live,
        what.session.as_deref(),
        home,
        "tiller attach SESSION",
    )?;
    let session = short_id(&record.id);
    let stream = connect(record)?;
    let (screen, lend) = match what.mode {
        None => offer().unzip(),
        Some(_) => (None, None),
    };
    let response = ask(&stream, AttachRequest::to(record.id.clone(), screen));
    let response = response.map_err(|error| unreachable(record, &error))?;
    if !response.success {
        let error = response.error.unwrap_or_default();
        let text = format!("can't attach to session {session}: {error}");
        return Err(StartError::failed(text));
    }
    let (state, cwd) = (record.state.as_str(), &record.cwd);
    if let Some(lend) = lend {
        let (code, text) = lend(stream)
            .map_err(|error| StartError::failed(format!("can't lend the terminal: {error}")))?;
        if let Some(text) = text {
            out::eprint_line(&format!("tiller: {text}"));
        }
        return Ok(Outcome::with_code(code));
    }
    let has_left = Arc::<AtomicBool>::default();
    let ended = if what.mode.is_some() {
        relay(stream, Arc::clone(&has_left))
    } else {
        out::eprint_line(&format!(
            "Session {session} in {cwd}, {state}. Enter sends · /stop stops the run · Ctrl+C leaves"
        ));
        talk(stream, Arc::clone(&has_left))
    };
    ended.map_err(|error| StartError::failed(format!("the connection broke: {error}")))?;
    if was_killed(record, &has_left) {
        return Err(StartError::failed(format!(
            "session {session} ended too early: process {} was killed. tiller --session {session} opens it again",
            record.pid
        )));
    }
    Ok(Outcome::Done)
}

/// Whether the session's program was killed: its socket still exists, and nothing listens on it.
fn was_killed(record: &PresenceRecord, has_left: &AtomicBool) -> bool {
    let Some(socket) = &record.socket else {
        return false;
    };
    // A program that ends still listens for a moment.
    let ending = Instant::now() + ENDING;
    loop {
        match UnixStream::connect(socket) {
            Err(error) => return error.kind() == ErrorKind::ConnectionRefused,
            Ok(_) if has_left.load(Ordering::Relaxed) || Instant::now() > ending => return false,
            Ok(_) => thread::sleep(PAUSE),
        }
    }
}

/// Asks to attach and reads the answer, and no byte more.
fn ask(stream: &UnixStream, request: AttachRequest) -> io::Result<AttachResponse> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut stream = stream;
    stream.write_all(&to_line(&request))?;
    // Byte by byte, because requests about open questions follow at once.
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        io::Read::read_exact(&mut stream, &mut byte)?;
        line.extend(byte);
    }
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Passes lines on in both directions. Sets `has_left` at the end of stdin.
fn relay(stream: UnixStream, has_left: Arc<AtomicBool>) -> io::Result<()> {
    let mut to = stream.try_clone()?;
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut to);
        has_left.store(true, Ordering::Relaxed);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let mut from = BufReader::new(stream);
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        out::write(bytes)?;
        let count = bytes.len();
        from.consume(count);
    }
}

/// Shows what happens, and sends what the user types. Sets `has_left` at the end of stdin.
fn talk(stream: UnixStream, has_left: Arc<AtomicBool>) -> io::Result<()> {
    let questions = Arc::<Mutex<Questions>>::default();
    let mut to = stream.try_clone()?;
    send(&mut to, &json!({"type": "get_last_assistant_text"}))?;
    let answered = Arc::clone(&questions);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            if let Some(word) = unknown_command(text) {
                out::eprint_line(&format!("No command /{word} here"));
                continue;
            }
            // Slash commands don't answer a question.
            let answer = if text.starts_with('/') {
                Ok(None)
            } else {
                locked(&answered).answer(text, Instant::now())
            };
            let command = match answer {
                Ok(Some(answer)) => answer,
                Ok(None) => {
                    json!({"type": "prompt", "message": text, "streamingBehavior": "steer"})
                }
                Err(why) => {
                    out::eprint_line(why);
                    continue;
                }
            };
            if send(&mut to, &command).is_err() {
                return;
            }
        }
        has_left.store(true, Ordering::Relaxed);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let mut view = AttachedView::default();
    for line in BufReader::new(stream).lines() {
        let Ok(record) = serde_json::from_str::<Value>(&line?) else {
            continue;
        };
        let asked = locked(&questions).follow(&record, Instant::now());
        let text = match asked {
            Some(asked) => view.paragraph(&asked),
            None => view.show(&record),
        };
        out::write(for_terminal(&text).as_bytes())?;
    }
    Ok(())
}

fn locked(questions: &Mutex<Questions>) -> MutexGuard<'_, Questions> {
    questions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a command that front ends without a screen don't have.
fn unknown_command(text: &str) -> Option<&str> {
    let word = commands::word_of(text.strip_prefix('/')?)?;
    commands::find(text).is_none().then_some(word)
}

fn send(to: &mut UnixStream, command: &Value) -> io::Result<()> {
    to.write_all(&to_line(command))
}
