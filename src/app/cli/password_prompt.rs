//! Reads a line from the terminal without echo.

use std::io::{self, Read, Write};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::llm::Secret;

/// Prints `prompt` on stderr and reads a line from the terminal on stdin. Backspace and Ctrl+U
/// work; signals don't, so that the terminal always gets its echo back. `None` if the user pressed
/// Ctrl+C or Ctrl+D.
pub fn ask(prompt: &str) -> io::Result<Option<Secret>> {
    let _quiet = Quiet::start()?;
    let mut terminal = io::stderr();
    terminal.write_all(prompt.as_bytes())?;
    terminal.flush()?;
    let typed = read(&mut io::stdin().lock());
    // The Enter wasn't echoed either.
    let _ = terminal.write_all(b"\n");
    typed
}

fn read(input: &mut impl Read) -> io::Result<Option<Secret>> {
    let mut line = Zeroizing::new(Vec::new());
    let mut byte = [0];
    loop {
        match input.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        match byte[0] {
            b'\n' | b'\r' => break,
            0x03 => return Ok(None),
            // Ctrl+D cancels on an empty line, and otherwise ends the line.
            0x04 if line.is_empty() => return Ok(None),
            0x04 => break,
            0x08 | 0x7f => {
                line.pop();
            }
            0x15 => line.clear(),
            byte => line.push(byte),
        }
    }
    Ok(Some(Secret::new(pasted(&line))))
}

/// The text without bracketed paste markers.
fn pasted(line: &[u8]) -> String {
    String::from_utf8_lossy(line)
        .replace("\x1b[200~", "")
        .replace("\x1b[201~", "")
}

/// A terminal without echo, until this is dropped.
struct Quiet(Termios);

impl Quiet {
    fn start() -> io::Result<Self> {
        let original = tcgetattr(io::stdin())?;
        let mut quiet = original.clone();
        quiet
            .local_flags
            .remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        tcsetattr(io::stdin(), SetArg::TCSADRAIN, &quiet)?;
        Ok(Self(original))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_and_mended() {
        for (keys, expected) in [
            (&b"sk-1\r"[..], Some("sk-1")),
            (b"sk-1\nrest", Some("sk-1")),
            (b"wrong\x15sk-2\x7f1\r", Some("sk-1")),
            (b"\x7fsk-1\x04", Some("sk-1")),
            (b"\x1b[200~sk-1\x1b[201~\r", Some("sk-1")),
            (b"sk-1\x03", None),
            (b"\x04", None),
            (b"", Some("")),
        ] {
            let got = read(&mut &*keys).unwrap();
            assert_eq!(got.as_ref().map(Secret::expose), expected, "{keys:?}");
        }
    }
}
