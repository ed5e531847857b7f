//! The trial of the layers, in a process of its own: whoever tries them is confined by them.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

#[cfg(target_os = "linux")]
use super::confine::trial;
#[cfg(not(target_os = "linux"))]
use super::elsewhere::trial;
use super::spec::Layer;
use super::support::Support;

/// The second argument of a supervisor that is only to try.
pub(in crate::agent::process) const TRIAL: &str = "trial";

/// Starts `program` for a trial and says what works. Blocks for some milliseconds.
pub(in crate::agent::process) fn probe(program: &Path) -> Support {
    ask(program).unwrap_or_else(|error| Support::none(&format!("its trial failed: {error}")))
}

fn ask(program: &Path) -> io::Result<Support> {
    let (mut answer, theirs) = UnixStream::pair()?;
    let mut child = Command::new(program)
        .args(["__supervise", TRIAL])
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut text = Vec::new();
    let read = answer.read_to_end(&mut text);
    let ended = child.wait()?;
    read?;
    serde_json::from_slice(&text).map_err(|_| io::Error::other(format!("it ended with {ended}")))
}

/// The whole life of the process that tries: one answer on its standard input, a socket.
pub(in crate::agent::process) fn trial_main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn answer() -> io::Result<()> {
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    stream.peer_addr()?;
    trial(Layer::switched_off(), |support| {
        stream.write_all(&serde_json::to_vec(support)?)
    })
}
