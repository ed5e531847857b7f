//! The protocol between tiller and a supervisor on the control channel.
//!
//! To the supervisor: the length of the command, the command, then one byte per order. Back: one
//! line of JSON per report. End of file is the last order: tiller has ended, however it did.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    fn line(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
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
    let _ = report.line().and_then(|line| to.write_all(line.as_bytes()));
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
}
