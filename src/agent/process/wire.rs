//! What tiller and a supervisor say to each other over the control channel.
//!
//! Down: the command, once, behind its length; then one byte per order. Up: lines. That the
//! channel closes is the last order: tiller is gone, however it went.

use std::io::{self, Read, Write};

/// What to do with the tree. A later order never takes back an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Let it run. Sent only to a supervisor that was found stopped: somebody below it is hostile.
    #[default]
    Run,
    /// SIGTERM, the grace, SIGKILL.
    Stop,
    /// SIGKILL now.
    Kill,
}

impl Order {
    /// The byte that stands for it.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Run => b'R',
            Self::Stop => b'T',
            Self::Kill => b'K',
        }
    }

    /// The order `byte` stands for.
    pub(super) fn from_byte(byte: u8) -> Self {
        match byte {
            b'T' => Self::Stop,
            b'K' => Self::Kill,
            _ => Self::Run,
        }
    }
}

/// What a supervisor has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// An order arrived.
    Heard,
    /// The shell could not be started.
    NotStarted(String),
    /// The shell exited with this code.
    Exited(i32),
    /// The shell was killed by this signal.
    Killed(i32),
    /// This process could not be ended.
    Left(String),
    /// Nobody is left, or nothing more can be done. Always the last.
    Done,
}

impl Report {
    /// The line that says it, its end included.
    pub(super) fn line(&self) -> String {
        // A process may call itself anything, also something with a line end.
        let flat = |text: &str| text.replace(char::is_control, "?");
        match self {
            Self::Heard => "heard\n".to_owned(),
            Self::NotStarted(why) => format!("failed {}\n", flat(why)),
            Self::Exited(code) => format!("exit {code}\n"),
            Self::Killed(signal) => format!("signal {signal}\n"),
            Self::Left(process) => format!("left {}\n", flat(process)),
            Self::Done => "done\n".to_owned(),
        }
    }

    /// What `line` says; none when it says nothing we know.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "heard" => Self::Heard,
            "failed" => Self::NotStarted(rest.to_owned()),
            "exit" => Self::Exited(rest.parse().ok()?),
            "signal" => Self::Killed(rest.parse().ok()?),
            "left" => Self::Left(rest.to_owned()),
            "done" => Self::Done,
            _ => return None,
        })
    }
}

/// The bytes that hand `command` to a supervisor.
pub(super) fn request(command: &str) -> Vec<u8> {
    let mut bytes = (command.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(command.as_bytes());
    bytes
}

/// Reads what [`request`] wrote.
pub(super) fn read_request(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut command = Vec::new();
    from.take(length).read_to_end(&mut command)?;
    if command.len() as u64 == length {
        Ok(command)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Says `report`. That nobody listens any more is no failure.
pub(super) fn say(to: &mut impl Write, report: &Report) {
    let _ = to.write_all(report.line().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_arrives_whole_or_not_at_all() {
        let bytes = request("echo 'a\nb' ü");
        assert_eq!(
            read_request(&mut &bytes[..]).unwrap(),
            "echo 'a\nb' ü".as_bytes()
        );
        for end in 0..bytes.len() {
            assert!(read_request(&mut &bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn reports_survive_the_way() {
        for report in [
            Report::Heard,
            Report::NotStarted("no such file".into()),
            Report::Exited(-1),
            Report::Killed(9),
            Report::Left("12 a b".into()),
            Report::Done,
        ] {
            assert_eq!(Report::parse(report.line().trim_end()), Some(report));
        }
        assert_eq!(
            Report::Left("1 a\nexit 0".into()).line(),
            "left 1 a?exit 0\n"
        );
        assert_eq!(Report::parse("exit x"), None);
    }
}
