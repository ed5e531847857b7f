//! A server that is a program: messages are lines on its standard input and output.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::select;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::{Failure, MAX_MESSAGE, Outgoing, STOPPED, Shared};
use super::pipes::Pipes;
use crate::process::{ExitStatus, Running, Status};

/// How much of its standard error is kept, in bytes.
const MAX_ERRORS: usize = 2_000;
/// How long a server that has closed its output may take to exit.
const EXIT: Duration = Duration::from_millis(300);
/// How long its processes may take to end.
const GONE: Duration = Duration::from_secs(10);

/// Talks to the server until it is gone or no longer needed, then ends it.
pub(super) async fn serve(
    shared: Arc<Shared>,
    (mut running, guard): (Running, Option<Box<dyn Any + Send>>),
    pipes: Pipes,
    mut to_write: mpsc::Receiver<Outgoing>,
    end: CancellationToken,
) {
    let Pipes {
        folder,
        mut input,
        mut errors,
    } = pipes;
    let mut folder = Some(folder);
    let write = async {
        let mut written = 0;
        while let Some(message) = to_write.recv().await {
            if input.write_all(message.text.as_bytes()).await.is_err() {
                break;
            }
            written += 1;
            if written == 2 {
                // It has answered the first, so it has opened both FIFOs. A command must not find them.
                folder.take();
            }
        }
        std::future::pending::<()>().await;
    };
    let mut said = Vec::new();
    let why = select! {
        biased;
        () = end.cancelled() => STOPPED.to_owned(),
        why = read(&shared, &mut running, &mut errors, &mut said) => why,
        () = write => return,
    };
    shared.close(Failure::Gone(with_errors(why, &said)));
    // Dropping it ends the server and everything that it started.
    let mut status = running.status();
    drop((running, to_write));
    if guard.is_some() {
        let _ = timeout(GONE, status.wait_for(|status| status.gone)).await;
    }
    drop(guard);
}

/// Reads what the server says, until it is gone. Returns why.
async fn read(
    shared: &Shared,
    running: &mut Running,
    errors: &mut pipe::Receiver,
    said: &mut Vec<u8>,
) -> String {
    let mut status = running.status();
    let mut lines = Lines::default();
    let mut chunk = Vec::with_capacity(64 * 1024);
    loop {
        chunk.clear();
        select! {
            read = running.read(&mut chunk) => match read {
                Ok(1..) => {
                    if !lines.push(&chunk, |line| shared.receive(line)) {
                        return format!("it sent more than {} MB in one line", MAX_MESSAGE >> 20);
                    }
                }
                _ => {
                    let exit = timeout(EXIT, exited(&mut status)).await.ok();
                    let _ = errors.try_read_buf(said);
                    return exit.unwrap_or_else(|| "it closed its output".to_owned());
                }
            },
            read = errors.read_buf(said) => {
                if read.is_ok() {
                    said.drain(..said.len().saturating_sub(MAX_ERRORS));
                }
            }
            exit = exited(&mut status) => {
                running.read_ready(&mut chunk);
                lines.push(&chunk, |line| shared.receive(line));
                let _ = errors.try_read_buf(said);
                return exit;
            }
        }
    }
}

/// Waits until the server has exited. Returns how.
async fn exited(status: &mut watch::Receiver<Status>) -> String {
    let exited = status.wait_for(|status| status.shell.is_some()).await;
    match exited.ok().and_then(|status| status.shell.clone()) {
        Some(ExitStatus::Exited(127)) => "its command wasn't found".to_owned(),
        Some(ExitStatus::Exited(code)) => format!("it exited with code {code}"),
        Some(ExitStatus::Killed(signal)) => format!("it was killed by signal {signal}"),
        Some(ExitStatus::NotStarted(why)) => format!("it couldn't start: {why}"),
        Some(ExitStatus::Unknown(_)) | None => "its processes were killed".to_owned(),
    }
}

/// `why`, and the last line that the server wrote to standard error.
fn with_errors(why: String, said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let last = text.lines().rev().map(str::trim).find(|it| !it.is_empty());
    match last {
        Some(last) => {
            let shown = last.chars().filter(|c| !c.is_control());
            let last: String = shown.take(300).collect();
            format!("{why}; its last words: {last}")
        }
        None => why,
    }
}

/// Splits output into lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    /// Takes the next bytes. Returns `false` once a line is too long.
    fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) -> bool {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.0.extend_from_slice(&bytes[..end]);
            each(&self.0);
            self.0.clear();
            bytes = &bytes[end + 1..];
        }
        self.0.extend_from_slice(bytes);
        self.0.len() <= MAX_MESSAGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_whole_and_only_up_to_a_limit() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc", "\n\nd"] {
            assert!(lines.push(piece.as_bytes(), |line| seen.push(line.to_vec())));
        }
        assert_eq!(seen, [b"ab".to_vec(), b"c".to_vec(), Vec::new()]);
        assert!(!lines.push(&vec![b'x'; MAX_MESSAGE], |_| {}));
    }
}
