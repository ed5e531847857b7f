//! stdout and stderr. A reader that went away (`tiller -p ... | head -1`) is no error: it ends the
//! run quietly.

use std::io::{self, Write};

/// Writes one line to stderr for a person, control characters shown as such.
pub fn complain(text: &str) {
    let mut line = sanitize(text);
    if !line.ends_with('\n') {
        line.push('\n');
    }
    let _ = io::stderr().lock().write_all(line.as_bytes());
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
