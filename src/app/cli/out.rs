//! stdout and stderr. A reader that went away (`tiller -p ... | head -1`) is no error: it ends the
//! run quietly.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::{panic, thread};

use crate::llm::auth::Redactor;

/// Writes one line to stderr for a person, control characters shown as such.
pub fn complain(text: &str) {
    let mut line = sanitize(text);
    if !line.ends_with('\n') {
        line.push('\n');
    }
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// From now on a panic tells what happened without what `redactor` knows.
pub fn complain_of_panics(redactor: Redactor) {
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
        complain(&redactor.redact(&text));
    }));
}

/// Writes `bytes` to stdout and flushes. An error means that nobody reads any more.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// `text` without anything that a terminal would obey, newlines and tabs kept. Only for a person's
/// eyes: what goes to another program stays as it is.
pub fn sanitize(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_is_left() {
        assert_eq!(
            sanitize("a\x1b[31mb\tc\nd\u{9b}e\x07"),
            "a\u{fffd}[31mb\tc\nd\u{fffd}e\u{fffd}"
        );
    }
}
