//! The lines of the file, which pi reads too. What was cut off in writing is left out.

use std::io::{self, BufRead, BufReader, Read, Seek};

use crate::agent::session::SessionView;
use crate::llm::auth::Redactor;

/// The lines of a session file.
///
/// # Errors
/// It cannot be read.
pub fn jsonl(session: &SessionView, redactor: &Redactor) -> io::Result<Vec<u8>> {
    let (mut file, length) = session.whole();
    file.rewind()?;
    let mut lines = BufReader::new(file.take(length));
    let (mut line, mut out) = (Vec::new(), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        out.extend_from_slice(&redactor.redact_bytes(&line));
        line.clear();
    }
    if out.last().is_some_and(|last| *last != b'\n') {
        out.push(b'\n');
    }
    Ok(out)
}
