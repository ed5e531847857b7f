//! The protocol between tiller and a supervisor on the control channel.
//!
//! To the supervisor: the length of the command, the command, then one byte per order. Back: one
//! line per report. End of file is the last order: tiller has ended, however it did.

use std::io::{self, Read, Write};

/// What to do with the process tree. A later order never takes back an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Let it run. Sent only to a supervisor that was found stopped by a signal.
    #[default]
    Run,
    /// SIGTERM, the grace, SIGKILL.
    Stop,
    /// SIGKILL now.
    Kill,
}

impl Order {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Run => b'R',
            Self::Stop => b'T',
            Self::Kill => b'K',
        }
    }

    pub(super) fn from_byte(byte: u8) -> Self {
        match byte {
            b'T' => Self::Stop,
            b'K' => Self::Kill,
            _ => Self::Run,
        }
    }
}

/// What a supervisor reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// An order arrived.
    Ack,
    /// The shell could not be started.
    NotStarted(String),
    /// The shell exited with this code.
    Exited(i32),
    /// The shell was killed by this signal.
    Killed(i32),
    /// This process could not be ended.
    Left(String),
    /// No process is left, or nothing more can be done. Always the last.
    Done,
}

impl Report {
    /// The line for the channel, with its line end.
    pub(super) fn line(&self) -> String {
        // A process may call itself anything, also something with a line end.
        let flat = |text: &str| text.replace(char::is_control, "?");
        match self {
            Self::Ack => "ack\n".to_owned(),
            Self::NotStarted(why) => format!("failed {}\n", flat(why)),
            Self::Exited(code) => format!("exit {code}\n"),
            Self::Killed(signal) => format!("signal {signal}\n"),
            Self::Left(process) => format!("left {}\n", flat(process)),
            Self::Done => "done\n".to_owned(),
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "ack" => Self::Ack,
            "failed" => Self::NotStarted(rest.to_owned()),
            "exit" => Self::Exited(rest.parse().ok()?),
            "signal" => Self::Killed(rest.parse().ok()?),
            "left" => Self::Left(rest.to_owned()),
            "done" => Self::Done,
            _ => return None,
        })
    }
}

/// The bytes that give `command` to a supervisor.
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

/// Sends `report`; ignores that tiller may have ended.
pub(super) fn send(to: &mut impl Write, report: &Report) {
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
            Report::Ack,
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
