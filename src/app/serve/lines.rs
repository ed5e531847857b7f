//! Reads the client's lines on a separate thread. A line that is too long is skipped, so that no
//! client can fill the memory.

use std::io::{self, BufRead, Read};
use std::thread;

use tokio::sync::mpsc;

/// Most bytes of a line: some large pictures.
const MAX_LINE: u64 = 128 * 1024 * 1024;

/// Lines that may wait.
const WAITING: usize = 16;

/// One line without its end, or what is wrong with it.
pub(super) type ReadLine = Result<Vec<u8>, String>;

/// Reads `from` to its end.
pub(super) fn read(from: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<ReadLine>> {
    let (sender, lines) = mpsc::channel(WAITING);
    let mut from = io::BufReader::new(from);
    let named = thread::Builder::new().name("input".to_owned());
    named.spawn(move || {
        while let Some(line) = next(&mut from, MAX_LINE) {
            let is_empty = matches!(&line, Ok(line) if line.trim_ascii().is_empty());
            if !is_empty && sender.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// The next line; `None` at the end.
fn next(from: &mut impl BufRead, most: u64) -> Option<ReadLine> {
    let mut line = Vec::new();
    let read = from.by_ref().take(most + 1).read_until(b'\n', &mut line);
    match read {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if line.len() as u64 > most && line.last() != Some(&b'\n') {
        skip(from);
        let most = most / 1024 / 1024;
        return Some(Err(format!("the line is longer than {most} MiB")));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Some(Ok(line))
}

/// Skips the rest of the line.
fn skip(from: &mut impl BufRead) {
    loop {
        let (found, count) = match from.fill_buf() {
            Ok([]) | Err(_) => return,
            Ok(bytes) => match memchr::memchr(b'\n', bytes) {
                Some(end) => (true, end + 1),
                None => (false, bytes.len()),
            },
        };
        from.consume(count);
        if found {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let mut from = io::Cursor::new("ab\r\ntoo long\n\u{2028}c\nend");
        let mut lines = Vec::new();
        while let Some(line) = next(&mut from, 5) {
            lines.push(line.map(|line| String::from_utf8(line).unwrap()).ok());
        }
        let expected = [Some("ab\r"), None, Some("\u{2028}c"), Some("end")];
        assert_eq!(lines, expected.map(|line| line.map(str::to_owned)));
    }
}
