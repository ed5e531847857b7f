//! Runs a command and captures its output, for callers that need it only at the end.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::processes::{Processes, Running, Spawn};
use super::wire::ExitStatus;

/// How long to wait for more output after the shell exits.
const DRAIN: Duration = Duration::from_millis(100);

/// A command's output and exit.
#[derive(Debug)]
pub struct Captured {
    /// The first bytes of output.
    pub output: Vec<u8>,
    /// How its shell ended; `None` on timeout.
    pub exit: Option<ExitStatus>,
}

/// Runs a command for at most `limit` and captures the first `max_bytes` of its output. Kills its
/// process tree when it returns or is dropped.
pub async fn run_captured(
    processes: &Processes,
    spawn: Spawn,
    limit: Duration,
    max_bytes: usize,
) -> io::Result<Captured> {
    let mut running = processes.start(spawn, &CancellationToken::new())?;
    let mut output = Vec::new();
    let exit = timeout(limit, exit(&mut running, &mut output, max_bytes))
        .await
        .unwrap_or_default();
    if exit.is_some() {
        let _ = timeout(DRAIN, collect(&mut running, &mut output, max_bytes)).await;
    }
    Ok(Captured { output, exit })
}

async fn exit(running: &mut Running, output: &mut Vec<u8>, max_bytes: usize) -> Option<ExitStatus> {
    let mut status = running.status();
    let exited = async {
        let status = status.wait_for(|status| status.shell.is_some()).await;
        status.ok()?.shell.clone()
    };
    tokio::select! {
        exit = exited => exit,
        never = async { collect(running, output, max_bytes).await; pending().await } => never,
    }
}

/// Reads all output, and drops what exceeds `max_bytes`.
async fn collect(running: &mut Running, output: &mut Vec<u8>, max_bytes: usize) {
    let mut buffer = Vec::with_capacity(4096);
    while matches!(running.read(&mut buffer).await, Ok(1..)) {
        let room = max_bytes.saturating_sub(output.len());
        output.extend_from_slice(&buffer[..buffer.len().min(room)]);
        buffer.clear();
    }
}
