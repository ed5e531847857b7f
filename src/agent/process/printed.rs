//! What a command prints, for callers who want all of it at the end and nothing of it on the way.

use std::io;
use std::time::Duration;

use tokio::time::timeout;

use super::{Launch, Processes, Running, ShellEnd};

/// How long output is waited for once the shell has ended.
const REST: Duration = Duration::from_millis(100);

/// What came of a command.
#[derive(Debug)]
pub struct Printed {
    /// Its output, cut to the length that was asked for.
    pub output: Vec<u8>,
    /// How its shell ended; none when it took too long.
    pub end: Option<ShellEnd>,
}

/// Runs a command for at most `limit` and collects at most `most` bytes of its output. When this
/// returns or is dropped, what is left of its tree is told to die.
///
/// # Errors
/// It could not be started.
pub async fn printed(
    processes: &Processes,
    launch: Launch,
    limit: Duration,
    most: usize,
) -> io::Result<Printed> {
    let mut running = processes.start(launch)?;
    let mut output = Vec::new();
    let end = timeout(limit, end(&mut running, &mut output, most))
        .await
        .ok();
    if end.is_some() {
        let _ = timeout(REST, collect(&mut running, &mut output, most)).await;
    }
    Ok(Printed { output, end })
}

async fn end(running: &mut Running, output: &mut Vec<u8>, most: usize) -> ShellEnd {
    let mut fate = running.fate();
    let ended = async {
        match fate.wait_for(|fate| fate.shell.is_some()).await {
            Ok(fate) => fate.shell.clone().unwrap_or(ShellEnd::Unseen(None)),
            Err(_) => ShellEnd::Unseen(None),
        }
    };
    tokio::select! {
        end = ended => end,
        never = async { collect(running, output, most).await; std::future::pending().await } => never,
    }
}

/// Reads to the end of the output; what is too much is read and forgotten.
async fn collect(running: &mut Running, output: &mut Vec<u8>, most: usize) {
    let mut buffer = Vec::with_capacity(4096);
    while matches!(running.read(&mut buffer).await, Ok(1..)) {
        let room = most.saturating_sub(output.len());
        output.extend_from_slice(&buffer[..buffer.len().min(room)]);
        buffer.clear();
    }
}
