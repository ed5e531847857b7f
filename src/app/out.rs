//! stdout and stderr. A sub-command ignores a closed pipe (`tiller models | head -1`); a run that loses
//! its reader ends quietly. Any other failed write (a full disk) prints an error and ends in exit code
//! 1.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::{panic, thread};

use tokio::sync::{mpsc, oneshot};

use crate::app::outcome::Outcome;
use crate::app::sanitize::for_terminal;
use crate::llm::auth::Redactor;
use crate::llm::os_error::plain;

/// Texts that may wait for a slow reader.
const WAITING: usize = 64;

/// The columns of the terminal on stdout, if it is one.
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Writes one line to stderr, with control characters made visible.
pub fn eprint_line(text: &str) {
    let _ = io::stderr().lock().write_all(line(&plain(text)).as_bytes());
}

/// Writes an error to stderr, in the form that clap's errors have. Notices begin with `tiller:`.
pub fn eprint_error(text: impl Display) {
    eprint_line(&format!("error: {text}"));
}

/// One line for a user, with control characters made visible.
pub fn line(text: &str) -> String {
    let mut line = for_terminal(text).into_owned();
    if !line.ends_with('\n') {
        line.push('\n');
    }
    line
}

/// Writes on its own thread: only that thread waits for a slow reader.
#[derive(Debug)]
pub struct Writer {
    texts: Option<mpsc::Sender<String>>,
    written: oneshot::Receiver<io::Result<()>>,
}

impl Writer {
    /// Writes to stdout.
    pub fn stdout() -> io::Result<Self> {
        Self::start(io::stdout())
    }

    pub fn start(mut to: impl Write + Send + 'static) -> io::Result<Self> {
        let (texts, mut inbox) = mpsc::channel::<String>(WAITING);
        let (done, written) = oneshot::channel();
        let mut write_all = move || {
            while let Some(text) = inbox.blocking_recv() {
                to.write_all(text.as_bytes())?;
                to.flush()?;
            }
            Ok(())
        };
        let named = thread::Builder::new().name(String::from("writer"));
        named.spawn(move || done.send(write_all()))?;
        let texts = Some(texts);
        Ok(Self { texts, written })
    }

    /// Waits for room for `text`. An error may belong to an earlier text.
    pub async fn write(&mut self, text: String) -> io::Result<()> {
        match &self.texts {
            Some(texts) if !text.is_empty() && texts.send(text).await.is_err() => {
                self.finish().await
            }
            _ => Ok(()),
        }
    }

    /// Closes and waits until everything is written.
    pub async fn finish(&mut self) -> io::Result<()> {
        if self.texts.take().is_none() {
            return Ok(());
        }
        (&mut self.written).await.unwrap_or(Ok(()))
    }
}

/// From now on a panic prints its message without what `redactor` knows.
pub fn eprint_panics(redactor: Redactor) {
    panic::set_hook(Box::new(move |info| {
        let thread = thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        let mut text = format!("thread '{name}' {info}\n");
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(text, "{trace}");
        } else {
            text.push_str("note: run with RUST_BACKTRACE=1 to see a backtrace\n");
        }
        eprint_line(&redactor.redact(&text));
    }));
}

pub fn print(text: &str) -> Outcome {
    match write(text.as_bytes()) {
        Ok(()) => Outcome::Done,
        Err(error) => write_failed(&error),
    }
}

/// The outcome of a sub-command after a failed write. Prints the error unless the pipe was closed.
pub fn write_failed(error: &io::Error) -> Outcome {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Outcome::Done;
    }
    eprint_error(format_args!("can't write to stdout: {error}"));
    Outcome::Failed
}

/// Writes `bytes` to stdout and flushes.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
