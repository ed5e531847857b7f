//! stdout and stderr. A closed pipe (`tiller -p ... | head -1`) is no error: it ends the program
//! quietly. Any other failed write (a full disk) is told on stderr and ends in exit code 1.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::{panic, thread};

use crate::app::outcome::Outcome;
use crate::app::sanitize::for_terminal;
use crate::llm::auth::Redactor;

/// Writes one line to stderr for a user, control characters shown as such.
pub fn eprint_line(text: &str) {
    let mut line = for_terminal(text).into_owned();
    if !line.ends_with('\n') {
        line.push('\n');
    }
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// From now on a panic tells what happened without what `redactor` knows.
pub fn eprint_panics(redactor: Redactor) {
    panic::set_hook(Box::new(move |info| {
        let thread = thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        let mut text = format!("thread '{name}' {info}\n");
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            let _ = writeln!(text, "{trace}");
        } else {
            text.push_str("note: run with RUST_BACKTRACE=1 to see the way to it\n");
        }
        eprint_line(&redactor.redact(&text));
    }));
}

/// Writes the whole output of a sub-command to stdout.
pub fn print(text: &str) -> Outcome {
    match write(text.as_bytes()) {
        Ok(()) => Outcome::Done,
        Err(error) => write_failed(&error),
    }
}

/// The outcome after a failed write to stdout; tells the error on stderr unless it is a closed pipe.
pub fn write_failed(error: &io::Error) -> Outcome {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Outcome::Done;
    }
    eprint_line(&format!("tiller: cannot write to stdout: {error}"));
    Outcome::Failed
}

/// Writes `bytes` to stdout and flushes.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
