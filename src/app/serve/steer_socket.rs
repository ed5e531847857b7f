//! The socket through which other programs speak to an open session. Each connection carries one
//! line in and one out, and is cut off after some seconds, whatever it does or leaves undone.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::unistd::Uid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::socket_file::bind;
use crate::agent::process::is_from_command;
use crate::agent::{AgentHandle, ExternalMessage, NoticeLevel, WhenIdle};
use crate::app::steer::{MAX_LINE, MAX_MESSAGE, SteerRequest, SteerResponse, to_line};

/// Connections served at the same time; others wait in the socket's own queue.
const CONNECTIONS: usize = 16;
/// How long a connection may take to send its line, and again to take the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait after a connection could not be accepted: mostly there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The socket of one agent. Dropping it takes it away.
#[derive(Debug)]
pub struct SteerSocket {
    task: JoinHandle<()>,
    path: Arc<Mutex<Option<PathBuf>>>,
}

impl SteerSocket {
    /// Listens in the first of `folders` where that is possible. Returns at once.
    pub fn open(handle: AgentHandle, folders: Vec<PathBuf>, when_idle: WhenIdle) -> Self {
        let path = Arc::<Mutex<Option<PathBuf>>>::default();
        let bound = Arc::clone(&path);
        let task = tokio::spawn(async move {
            let listener = match listen(folders, bound).await {
                Ok((listener, path)) => {
                    handle.listening(Some(path));
                    listener
                }
                Err(error) => {
                    tracing::warn!("other programs cannot steer this session: {error}");
                    return;
                }
            };
            serve(&listener, &handle, when_idle).await;
        });
        Self { task, path }
    }
}

impl Drop for SteerSocket {
    fn drop(&mut self) {
        self.task.abort();
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &*path {
            let _ = std::fs::remove_file(path);
        }
    }
}

async fn listen(
    folders: Vec<PathBuf>,
    bound: Arc<Mutex<Option<PathBuf>>>,
) -> io::Result<(UnixListener, PathBuf)> {
    let bind = move || {
        let (listener, path) = bind(&folders)?;
        *bound.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.clone());
        listener.set_nonblocking(true)?;
        Ok::<_, io::Error>((listener, path))
    };
    let (listener, path) = spawn_blocking(bind).await.map_err(io::Error::other)??;
    Ok((UnixListener::from_std(listener)?, path))
}

async fn serve(listener: &UnixListener, handle: &AgentHandle, when_idle: WhenIdle) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection to the session's socket failed: {error}");
                sleep(PAUSE).await;
                continue;
            }
        };
        let handle = handle.clone();
        tokio::spawn(async move {
            converse(stream, &handle, when_idle).await;
            drop(place);
        });
    }
}

async fn converse(mut stream: UnixStream, handle: &AgentHandle, when_idle: WhenIdle) {
    // The folder keeps others out; this holds where its rights do not.
    let Ok(peer) = stream.peer_cred() else {
        return;
    };
    if peer.uid() != Uid::effective().as_raw() && peer.uid() != 0 {
        return;
    }
    let response = match timeout(PATIENCE, read(&mut stream)).await {
        Ok(Ok(request)) => {
            warn_of_command(peer.pid(), handle).await;
            take(request, handle, when_idle).await
        }
        Ok(Err(error)) => SteerResponse::refused(error),
        Err(_) => SteerResponse::refused("no complete line arrived within 5 s".to_owned()),
    };
    let line = to_line(&response);
    let _ = timeout(PATIENCE, stream.write_all(&line)).await;
}

/// Tells the user when the message does not come from them, but from a command that the model runs:
/// it reads like theirs.
async fn warn_of_command(pid: Option<i32>, handle: &AgentHandle) {
    let Some(pid) = pid else {
        return;
    };
    if let Ok(true) = spawn_blocking(move || is_from_command(pid)).await {
        let text = "A command in this session sent it a message in your name";
        handle.notify(NoticeLevel::Warning, text.to_owned());
    }
}

/// Reads one request; its line end may be missing where nothing follows.
async fn read(stream: &mut UnixStream) -> Result<SteerRequest, String> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(stream).take(MAX_LINE as u64 + 1);
    let read = reader.read_until(b'\n', &mut line).await;
    read.map_err(|error| format!("can't read the line: {error}"))?;
    if line.len() > MAX_LINE {
        return Err("the line is longer than 2 MiB".to_owned());
    }
    serde_json::from_slice(&line).map_err(|error| {
        format!(
            "expected a line such as {{\"type\":\"steer\",\"message\":\"...\"}} (or type follow_up): {error}"
        )
    })
}

async fn take(
    mut request: SteerRequest,
    handle: &AgentHandle,
    when_idle: WhenIdle,
) -> SteerResponse {
    if request.message.len() > MAX_MESSAGE {
        let error = "the message is longer than 1 MiB; write it to a file and send the file's name";
        return SteerResponse::to(request, Err(error.to_owned()));
    }
    let message = ExternalMessage {
        kind: request.r#type.into(),
        // Servers of models refuse a NUL, now and in every later request.
        text: std::mem::take(&mut request.message).replace('\0', "\u{fffd}"),
        session: request.session.take(),
        when_idle,
    };
    let delivered = handle.send_external(message).await;
    SteerResponse::to(request, delivered.map_err(|refused| refused.to_string()))
}
