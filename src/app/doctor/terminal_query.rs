//! Asks the terminal for its features and waits briefly for the answers.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, SetArg, cfmakeraw, tcflush, tcgetattr, tcsetattr};

/// Asks for the active kitty flags, then for DA1, which every terminal answers.
const QUERIES: &[u8] = b"\x1b[?u\x1b[c";
/// Time limit for the answers; enough for a slow connection.
const LIMIT: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    pub kitty_keys: bool,
    /// The terminal reports OSC 52.
    pub clipboard: bool,
}

/// Asks `tty`; `None` if it doesn't answer. Discards anything the user types meanwhile.
pub fn query(tty: &File) -> Option<Answers> {
    let original = tcgetattr(tty).ok()?;
    let mut raw = original.clone();
    cfmakeraw(&mut raw);
    tcsetattr(tty, SetArg::TCSANOW, &raw).ok()?;
    let answer = ask(tty);
    let _ = tcflush(tty, FlushArg::TCIFLUSH);
    let _ = tcsetattr(tty, SetArg::TCSANOW, &original);
    parse(&answer)
}

fn ask(mut tty: &File) -> Vec<u8> {
    let mut answer = Vec::new();
    if tty.write_all(QUERIES).is_err() {
        return answer;
    }
    let deadline = Instant::now() + LIMIT;
    let mut buffer = [0; 256];
    while parse(&answer).is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut ready = [PollFd::new(tty.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut ready, left), Ok(1..)) {
            break;
        }
        match tty.read(&mut buffer) {
            Ok(count @ 1..) => answer.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    answer
}

/// Parses the answers once the last one has arrived: `ESC [ ? 62 ; 52 c`.
fn parse(answer: &[u8]) -> Option<Answers> {
    let text = String::from_utf8_lossy(answer);
    let mut answers = Answers {
        kitty_keys: false,
        clipboard: false,
    };
    for piece in text.split("\x1b[?").skip(1) {
        let end = piece.find(|letter: char| letter.is_ascii_alphabetic())?;
        match piece.as_bytes()[end] {
            b'u' => answers.kitty_keys = true,
            b'c' => {
                answers.clipboard = piece[..end].split(';').any(|part| part == "52");
                return Some(answers);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_when_the_last_one_is_there() {
        let answers = |kitty_keys, clipboard| {
            Some(Answers {
                kitty_keys,
                clipboard,
            })
        };
        for (text, expected) in [
            ("", None),
            ("\x1b[?0u", None),
            ("\x1b[?0u\x1b[?62;52", None),
            ("\x1b[?0u\x1b[?62;52c", answers(true, true)),
            ("x\x1b[?62;22c", answers(false, false)),
            ("\x1b[?1;2c", answers(false, false)),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text:?}");
        }
    }
}
