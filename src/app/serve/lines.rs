//! Reads and parses the client's lines on a separate thread. A line that is too long is skipped, so that no
//! client can fill the memory.

use std::io::{self, BufRead, Read};
use std::os::fd::AsFd;
use std::pin::pin;
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Most bytes of a line: some large photos.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Lines that may wait.
const WAITING: usize = 16;

/// How long a client that has closed stdin may leave everything unread.
const UNREAD: Duration = Duration::from_secs(10);

/// One line without its end, or what is wrong with it.
pub(super) type ReadLine = Result<Vec<u8>, String>;

/// Reads `from` to its end.
pub(super) fn read<T: Send + 'static>(
    from: impl Read + Send + 'static,
    parse: fn(ReadLine) -> T,
) -> io::Result<mpsc::Receiver<T>> {
    let (sender, lines) = mpsc::channel(WAITING);
    let mut from = io::BufReader::new(from);
    let named = thread::Builder::new().name("input".to_owned());
    named.spawn(move || {
        while let Some(line) = next(&mut from, MAX_LINE) {
            let is_empty = matches!(&line, Ok(line) if line.trim_ascii().is_empty());
            if !is_empty && sender.blocking_send(parse(line)).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// Waits for a write to the client. Gives up if the client has closed stdin and also stopped reading: then
/// nobody wants the rest.
///
/// # Errors
/// Fails as `write` does, or like a closed pipe.
pub(super) async fn while_read(write: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    unless_gone(write, stdin_is_closed).await
}

async fn unless_gone(
    write: impl Future<Output = io::Result<()>>,
    is_gone: impl Fn() -> bool,
) -> io::Result<()> {
    let mut write = pin!(write);
    loop {
        match timeout(UNREAD, &mut write).await {
            Ok(written) => return written,
            Err(_) if is_gone() => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => {}
        }
    }
}

/// Whether the other end is closed, even if not all of it is read. A file has no other end.
fn stdin_is_closed() -> bool {
    let stdin = io::stdin();
    // The kernel always tells of this one.
    let mut stdin = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    let is_closed = |found: PollFlags| found.contains(PollFlags::POLLHUP);
    poll(&mut stdin, PollTimeout::ZERO).is_ok() && stdin[0].revents().is_some_and(is_closed)
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
    mend_surrogates(&mut line);
    Some(Ok(line))
}

/// Replaces half of a surrogate pair (`\ud83d`), which JavaScript writes if it cuts a text there. No parser
/// would read the line, nor know whom to answer.
pub(super) fn mend_surrogates(line: &mut [u8]) {
    let unit = |line: &[u8], at: usize| {
        let escape = line.get(at..at + 6)?.strip_prefix(br"\u")?;
        let digits = std::str::from_utf8(escape).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', line.get(at..).unwrap_or_default()) {
        at += next;
        at += match unit(line, at) {
            Some(0xd800..=0xdbff) if matches!(unit(line, at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                line[at..at + 6].copy_from_slice(br"\ufffd");
                6
            }
            Some(_) => 6,
            // The second backslash of `\\` begins nothing.
            None => 2,
        };
    }
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

    #[tokio::test(start_paused = true)]
    async fn a_client_that_closes_stdin_and_does_not_read_is_gone() {
        let unread = unless_gone(std::future::pending(), || true).await;
        assert_eq!(unread.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let slow = async {
            tokio::time::sleep(UNREAD * 3).await;
            Ok(())
        };
        assert!(unless_gone(slow, || false).await.is_ok());
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (line, expected) in [
            (r#"{"id":"a\ud83d"}"#, r#"{"id":"a\ufffd"}"#),
            (r"\ude00\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d \n\u00e9", r"\\ud83d \n\u00e9"),
            (r"\ud8", r"\ud8"),
            ("é\\", "é\\"),
        ] {
            let mut mended = line.as_bytes().to_vec();
            mend_surrogates(&mut mended);
            assert_eq!(String::from_utf8(mended).unwrap(), expected, "{line}");
        }
    }

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
