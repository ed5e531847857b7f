//! Serves the clients: the one that started the program, and those that attach to its session.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::timeout;

use super::command::Line;
use super::output::Output;
use super::server::{Role, Server};
use crate::agent::SlowReader;
use crate::agent::process::Processes;
use crate::app::host::Host;
use crate::app::out::eprint_error;
use crate::app::outcome::Outcome;
use crate::app::serve::lines;
use crate::app::signals::Signals;

/// Time to close the session; it takes longer only on a hanging disk.
const CLOSING: Duration = Duration::from_secs(1);
/// Time for killed processes to exit.
const DYING: Duration = Duration::from_millis(50);
/// How long an attached client may leave its records unread.
const UNREAD: Duration = Duration::from_secs(10);

/// Serves one client on stdin and stdout until stdin ends or a signal arrives. All processes of the
/// session are dead when this returns.
pub async fn run_rpc(host: Host, processes: &Processes, notices: &[String]) -> Outcome {
    let outcome = match serve_stdio(&host, notices).await {
        Ok(outcome) => outcome,
        Err(error) => {
            eprint_error(format_args!("can't start: {error}"));
            Outcome::Failed
        }
    };
    let limit = CLOSING + host.handle.end_limit();
    let closed = timeout(limit, host.handle.shutdown()).await;
    let late = || Some("the disk is too slow: the session may be incomplete".to_owned());
    if let Some(unsaved) = closed.unwrap_or_else(|_| late()) {
        eprint_error(unsaved);
    }
    processes.kill_all();
    let _ = timeout(DYING, processes.empty()).await;
    outcome
}

async fn serve_stdio(host: &Host, notices: &[String]) -> io::Result<Outcome> {
    let mut signals = Signals::new([
        (Signal::SIGINT as i32, Outcome::Interrupted),
        (Signal::SIGTERM as i32, Outcome::Terminated),
        (Signal::SIGHUP as i32, Outcome::HungUp),
    ])?;
    let events = host.handle.subscribe(SlowReader::Wait);
    let output = Output::stdout()?;
    let mut server = Server::new(host.clone(), events, output, Role::Owner);
    let lines = lines::read(io::stdin(), Line::of)?;
    let work = async {
        server.greet(notices, &[]).await?;
        server.serve(lines).await
    };
    let done = tokio::select! {
        biased;
        outcome = signals.next() => return Ok(outcome),
        done = work => done,
    };
    Ok(match done {
        Ok(()) => Outcome::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Outcome::Cut,
        Err(error) => {
            eprint_error(format_args!("can't write to stdout: {error}"));
            Outcome::Failed
        }
    })
}

/// Serves an attached client until it hangs up or stops reading. It has already `sent` these bytes. The session
/// continues without it.
///
/// # Errors
/// Fails if the connection breaks, or if no thread starts.
pub async fn serve_attached(host: Host, stream: UnixStream, sent: Vec<u8>) -> io::Result<()> {
    let Some((now, events)) = host.handle.resubscribe().await else {
        return Ok(());
    };
    stream.set_write_timeout(Some(UNREAD))?;
    let lines = lines::read(io::Cursor::new(sent).chain(stream.try_clone()?), Line::of)?;
    let mut server = Server::new(host, events, Output::start(stream)?, Role::Guest);
    server.greet(&[], &now.questions).await?;
    server.serve(lines).await
}
