//! The protocol between tiller and a supervisor on the control channel.
//!
//! To the supervisor: a byte for its role in the shared network, with the namespaces as descriptors
//! if it joins. Then the sandbox as JSON (may be empty) and the command, each preceded by its
//! length. Then one byte per order. Back: one line of JSON per report. End of file is the last
//! order: tiller has ended.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;

use super::sandbox::{Namespaces, Sandbox, Share, receive};

/// What to do with the process tree. Orders only get stricter. Sent as a number in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Let it run. Sent only to a supervisor that a signal stopped.
    #[default]
    Run,
    /// SIGTERM, the grace period, SIGKILL.
    Stop,
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
    /// It couldn't be started, for this reason.
    NotStarted(String),
    /// Unknown: its supervisor was killed, by this signal if known.
    Unknown(Option<i32>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Ack,
    /// The shared network exists. It comes with the report, unless that failed.
    Network,
    Shell(ExitStatus),
    /// This process couldn't be ended.
    Left(String),
    /// It created a forbidden file, which was moved away.
    Refused(String),
    /// No process is left, or nothing more can be done. Always the last report.
    Done,
}

pub(super) fn strictest(bytes: &[u8]) -> Order {
    let order = |byte: &u8| match byte {
        0 => Order::Run,
        1 => Order::Stop,
        _ => Order::Kill,
    };
    bytes.iter().map(order).max().unwrap_or_default()
}

#[derive(Debug)]
pub(super) struct Request {
    pub sandbox: Option<Sandbox>,
    pub command: Vec<u8>,
    pub share: Share,
}

const MAKE: u8 = b'm';
const JOIN: u8 = b'j';

/// Sends the first byte. Never blocks, because the channel is empty.
pub(super) fn begin(mut to: &StdUnixStream, share: &Share) -> io::Result<()> {
    match share {
        Share::Alone => to.write_all(b"a"),
        Share::Make => to.write_all(&[MAKE]),
        Share::Join(shared) => shared.send(to, &[JOIN]).or_else(|_| to.write_all(b"a")),
    }
}

/// The bytes that pass `command` to a supervisor.
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

/// Reads what [`begin`] and [`request`] wrote, completely or not at all.
pub(super) fn read_request(from: &mut StdUnixStream) -> io::Result<Request> {
    let (mut first, mut descriptors) = ([0], Vec::new());
    if receive(&*from, &mut first, &mut descriptors)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let share = match (first, Namespaces::received(&mut descriptors)) {
        ([MAKE], _) => Share::Make,
        ([JOIN], Some(shared)) => Share::Join(Arc::new(shared)),
        _ => Share::Alone,
    };
    let sandbox = read_part(from)?;
    let sandbox = (!sandbox.is_empty()).then(|| serde_json::from_slice(&sandbox));
    Ok(Request {
        sandbox: sandbox.transpose()?,
        command: read_part(from)?,
        share,
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
    let _ = line(report).map(|line| to.write_all(line.as_bytes()));
}

pub(super) fn send_network(to: &mut StdUnixStream, made: Option<&Namespaces>) {
    match (made, line(&Report::Network)) {
        (Some(made), Ok(line)) => drop(made.send(to, line.as_bytes())),
        _ => send(to, &Report::Network),
    }
}

fn line(report: &Report) -> serde_json::Result<String> {
    serde_json::to_string(report).map(|json| json + "\n")
}

/// The reports of one supervisor, as they arrive.
pub(super) struct Reports {
    from: OwnedReadHalf,
    unread: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Reports {
    pub fn new(from: OwnedReadHalf) -> Self {
        Self {
            from,
            unread: Vec::new(),
            descriptors: Vec::new(),
        }
    }

    /// The next report; `None` at the end. Cancel-safe.
    pub async fn next(&mut self) -> io::Result<Option<Report>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let mut bytes = [0; 1024];
            let stream: &UnixStream = self.from.as_ref();
            let count = stream
                .async_io(Interest::READABLE, || {
                    receive(stream, &mut bytes, &mut self.descriptors)
                })
                .await?;
            if count == 0 {
                return Ok(None);
            }
            self.unread.extend(&bytes[..count]);
        }
    }

    /// The network that came with the last report.
    pub fn network(&mut self) -> Option<Namespaces> {
        Namespaces::received(&mut self.descriptors)
    }
}
