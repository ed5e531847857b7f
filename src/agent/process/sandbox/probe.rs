//! Tests the layers in a separate process, because testing confines the process.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

#[cfg(target_os = "linux")]
use super::confine::trial;
#[cfg(not(target_os = "linux"))]
use super::elsewhere::trial;
use super::spec::Layer;
use super::support::Support;

/// Second argument of a supervisor that only probes.
pub(in crate::process) const TRIAL: &str = "trial";
/// Last argument of a supervisor started by `bwrap`.
pub(in crate::process) const WITHIN: &str = "within";

/// Starts `program` as a probe and reports what works. Blocks for some milliseconds.
pub(in crate::process) fn probe(program: &Path) -> Support {
    let mut alone = Command::new(program);
    alone.args(["__supervise", TRIAL]);
    let support = ask(alone);
    let support =
        support.unwrap_or_else(|error| Support::none(&format!("the test run failed: {error}")));
    if support.namespaces.is_ok() || Layer::switched_off().contains(&Layer::Namespaces) {
        return support;
    }
    #[cfg(target_os = "linux")]
    if let Some(bwrap) = super::bubblewrap::find() {
        let sandbox = super::spec::Sandbox {
            tmp: Some(std::env::temp_dir()),
            ..super::spec::Sandbox::for_trial()
        };
        let mut by_bwrap = Command::new(&bwrap);
        let arguments = super::bubblewrap_arguments(&sandbox, true, program, Path::new("/"));
        let found = arguments.and_then(|arguments| {
            by_bwrap.args(arguments);
            by_bwrap.args(["__supervise", TRIAL, WITHIN]);
            ask(by_bwrap)
        });
        if let Ok(found) = found {
            let bwrap = Some(bwrap);
            return Support { bwrap, ..found };
        }
    }
    support
}

fn ask(mut program: Command) -> io::Result<Support> {
    let (mut answer, theirs) = UnixStream::pair()?;
    let mut child = program
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It holds the child's end of the channel.
    drop(program);
    let mut text = Vec::new();
    let read = answer.read_to_end(&mut text);
    let ended = child.wait()?;
    read?;
    serde_json::from_slice(&text).map_err(|_| io::Error::other(format!("it ended with {ended}")))
}

/// True if `bwrap` started this supervisor.
pub(in crate::process) fn is_within() -> bool {
    std::env::args_os()
        .next_back()
        .is_some_and(|last| last == WITHIN)
}

/// The main function of the probe: sends one answer on its standard input, a socket.
pub(in crate::process) fn answer_trial() -> io::Result<()> {
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    stream.peer_addr()?;
    trial(is_within(), |support| {
        stream.write_all(&serde_json::to_vec(support)?)
    })
}
