//! The protocol between tiller and a supervisor on the control channel.
//!
//! To the supervisor: the sandbox as JSON (empty: none) and the command, each after its length,
//! then one byte per order. Back: one line of JSON per report. End of file is the last order:
//! tiller has ended, however it did.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sandbox::Sandbox;

/// What to do with the process tree. A later order never takes back an earlier one. Sent as its
/// number, in a byte.
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
    /// Time between SIGTERM and SIGKILL.
    pub(super) fn grace(self) -> Duration {
        match self {
            Self::Kill => Duration::ZERO,
            Self::Run | Self::Stop => Duration::from_secs(2),
        }
    }
}

/// How a shell ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitStatus {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It could not be started, for this reason.
    NotStarted(String),
    /// Unknown: its supervisor was killed, by this signal if known.
    Unknown(Option<i32>),
}

/// What a supervisor reports.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// Orders have arrived.
    Ack,
    /// The shell has ended.
    Shell(ExitStatus),
    /// This process could not be ended.
    Left(String),
    /// It made something that it must not, which was moved out of the way.
    Refused(String),
    /// No process is left, or nothing more can be done. Always the last.
    Done,
}

/// The strictest of the orders in `bytes`.
pub(super) fn strictest(bytes: &[u8]) -> Order {
    let order = |byte: &u8| match byte {
        0 => Order::Run,
        1 => Order::Stop,
        _ => Order::Kill,
    };
    bytes.iter().map(order).max().unwrap_or_default()
}

/// What a supervisor is to do.
#[derive(Debug)]
pub(super) struct Request {
    pub sandbox: Option<Sandbox>,
    pub command: Vec<u8>,
}

/// The bytes that give `command` to a supervisor.
pub(super) fn request(command: &str, sandbox: Option<&Sandbox>) -> io::Result<Vec<u8>> {
    let sandbox = sandbox
        .map(serde_json::to_vec)
        .transpose()?
        .unwrap_or_default();
    let mut bytes = Vec::with_capacity(16 + sandbox.len() + command.len());
    for part in [&sandbox, command.as_bytes()] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    Ok(bytes)
}

/// Reads what [`request`] wrote, whole or not at all.
pub(super) fn read_request(from: &mut impl Read) -> io::Result<Request> {
    let sandbox = read_part(from)?;
    let sandbox = (!sandbox.is_empty()).then(|| serde_json::from_slice(&sandbox));
    Ok(Request {
        sandbox: sandbox.transpose()?,
        command: read_part(from)?,
    })
}

fn read_part(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Sends `report`; ignores that tiller may have ended.
pub(super) fn send(to: &mut impl Write, report: &Report) {
    let line = serde_json::to_string(report).map(|json| json + "\n");
    let _ = line.map(|line| to.write_all(line.as_bytes()));
}
