//! The socket that lets other programs talk to an open session. A connection carries one line in and one out,
//! and is closed after some seconds in any case, unless its client attaches: then it becomes one of RPC.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::unistd::Uid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::lines::mend_surrogates;
use super::rpc::serve_attached;
use super::socket_file::bind;
use crate::agent::process::is_from_command;
use crate::agent::{
    Accept, AgentEvent, AgentHandle, NoticeLevel, STEER_ORIGIN, SlowReader, Submission,
};
use crate::app::host::Host;
use crate::app::steer::{
    AttachRequest, AttachResponse, MAX_LINE, MAX_MESSAGE, ScreenRequest, SteerRequest,
    SteerResponse, to_line,
};
use crate::llm::Content;

/// Most connections at once; others wait in the socket's backlog.
const CONNECTIONS: usize = 64;
/// Most attached clients at once.
const ATTACHED: usize = 16;
/// Time limit for a client to send its line, and again to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long attached screens may take to leave when the program ends.
const LEAVING: Duration = Duration::from_millis(100);
/// Pause after a failed accept, usually because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// The socket of one agent. Dropping it removes it.
#[derive(Debug)]
pub struct SteerSocket {
    task: JoinHandle<()>,
    path: Arc<Mutex<Option<PathBuf>>>,
    attached: Arc<Semaphore>,
}

impl SteerSocket {
    /// Listens in the first of `folders` that works. Returns at once. With `must_choose` it
    /// first waits until the user has chosen a model: until then no message may go to any vendor.
    pub fn open(
        host: Host,
        folders: Vec<PathBuf>,
        accept: Accept,
        screens: Option<OpenScreen>,
        must_choose: bool,
    ) -> Self {
        let path = Arc::<Mutex<Option<PathBuf>>>::default();
        let bound = Arc::clone(&path);
        let attached = Arc::new(Semaphore::new(ATTACHED));
        let places = Arc::clone(&attached);
        let task = tokio::spawn(async move {
            if must_choose {
                model_chosen(&host.handle).await;
            }
            let listener = match listen(folders, bound).await {
                Ok((listener, path)) => {
                    host.handle.listening(Some(path));
                    listener
                }
                Err(error) => {
                    tracing::warn!("other programs cannot steer this session: {error}");
                    return;
                }
            };
            let socket = Socket {
                host,
                accept,
                screens,
                attached: places,
            };
            serve(&listener, &socket).await;
        });
        Self {
            task,
            path,
            attached,
        }
    }

    /// Accepts no more clients, and lets the attached screens restore their terminals. The agent has ended.
    pub async fn close(self) {
        // A socket that is left over tells clients that the program was killed.
        self.remove();
        self.task.abort();
        let all_left = self.attached.acquire_many(ATTACHED as u32);
        let _ = timeout(LEAVING, all_left).await;
    }

    fn remove(&self) {
        let path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &*path {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for SteerSocket {
    fn drop(&mut self) {
        self.remove();
        self.task.abort();
    }
}

/// Waits until the user has chosen a model: until then no message may go to any vendor.
pub(super) async fn model_chosen(handle: &AgentHandle) {
    let mut events = handle.subscribe(SlowReader::Drop);
    while let Some(event) = events.recv().await {
        if matches!(event.kind, AgentEvent::ModelChanged { .. }) {
            return;
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

/// What a connection needs.
#[derive(Clone)]
struct Socket {
    host: Host,
    accept: Accept,
    screens: Option<OpenScreen>,
    attached: Arc<Semaphore>,
}

/// Prepares a screen for a client's terminal. Fails with the reason if the terminal can't be used.
pub type OpenScreen = Arc<dyn Fn(ScreenRequest) -> Result<ShowScreen, String> + Send + Sync>;

/// Shows the screen until the client leaves. Blocks, so it needs its own thread.
pub type ShowScreen = Box<dyn FnOnce(std::os::unix::net::UnixStream) + Send>;

async fn serve(listener: &UnixListener, socket: &Socket) {
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
        let socket = socket.clone();
        tokio::spawn(async move {
            let attached = converse(stream, &socket).await;
            drop(place);
            let Some((stream, client)) = attached else {
                return;
            };
            let ended = match client.screen {
                Some(show) => show_screen(show, stream, client.place),
                None => serve_attached(socket.host, stream, client.sent).await,
            };
            if let Err(error) = ended {
                tracing::info!("an attached client is gone: {error}");
            }
        });
    }
}

/// A client that may attach.
struct Client {
    place: OwnedSemaphorePermit,
    screen: Option<ShowScreen>,
    /// What it sent with the request.
    sent: Vec<u8>,
}

fn show_screen(
    show: ShowScreen,
    stream: std::os::unix::net::UnixStream,
    place: OwnedSemaphorePermit,
) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("screen".to_owned());
    thread.spawn(move || {
        show(stream);
        drop(place);
    })?;
    Ok(())
}

type Attached = (std::os::unix::net::UnixStream, Client);

async fn converse(mut stream: UnixStream, socket: &Socket) -> Option<Attached> {
    // The folder keeps other users out. This check holds even where its permissions don't.
    let peer = stream.peer_cred().ok()?;
    if peer.uid() != Uid::effective().as_raw() && peer.uid() != 0 {
        return None;
    }
    let handle = &socket.host.handle;
    let response = match timeout(PATIENCE, read(&mut stream)).await {
        Ok(Ok((Request::Attach(request), sent))) => {
            let client = attach(request, sent, peer.pid(), socket).await;
            let response = AttachResponse::of(client.as_ref().map(drop).map_err(Clone::clone));
            let written = timeout(PATIENCE, stream.write_all(&to_line(&response))).await;
            written.ok()?.ok()?;
            let stream = stream.into_std().ok()?;
            stream.set_nonblocking(false).ok()?;
            return Some((stream, client.ok()?));
        }
        Ok(Ok((Request::Steer(request), _))) => {
            warn_of_command(peer.pid(), handle).await;
            take(request, handle, socket.accept).await
        }
        Ok(Err(error)) => SteerResponse::refused(error),
        Err(_) => SteerResponse::refused("no complete line arrived within 5 s".to_owned()),
    };
    let line = to_line(&response);
    let _ = timeout(PATIENCE, stream.write_all(&line)).await;
    None
}

/// Whether the client may attach. A command that the model runs may not: it could answer the questions that
/// tiller asks the user about it.
async fn attach(
    request: AttachRequest,
    sent: Vec<u8>,
    pid: Option<i32>,
    socket: &Socket,
) -> Result<Client, String> {
    // A client counts as a command if its process is unknown or ended.
    let is_from_command = spawn_blocking(move || is_from_command(pid?));
    if !matches!(is_from_command.await, Ok(Some(false))) {
        return Err("a command of a session can't attach to it".to_owned());
    }
    if socket.accept != Accept::Always {
        return Err("it prints one answer and ends; --events FILE follows such a run".to_owned());
    }
    let session = socket.host.snapshot().await?.session.id;
    if request.session.as_ref().is_some_and(|it| *it != session) {
        return Err("another session is open there now".to_owned());
    }
    let place = Arc::clone(&socket.attached).try_acquire_owned();
    let place = place
        .map_err(|_| format!("{ATTACHED} clients are attached already; one must leave first"))?;
    let screen = request.screen.map(|screen| match &socket.screens {
        Some(open) => open(screen),
        None => Err("its tiller was built without the full screen".to_owned()),
    });
    Ok(Client {
        place,
        screen: screen.transpose()?,
        sent,
    })
}

/// Warns the user of a message from a command that the model runs: it looks like the user's own.
async fn warn_of_command(pid: Option<i32>, handle: &AgentHandle) {
    let Some(pid) = pid else {
        return;
    };
    if let Ok(Some(true)) = spawn_blocking(move || is_from_command(pid)).await {
        let text = "A command in this session sent it a message in your name";
        handle.notify(NoticeLevel::Warning, text.to_owned());
    }
}

enum Request {
    Attach(AttachRequest),
    Steer(SteerRequest),
}

/// Reads one request, and what came with it. At the end of the stream its newline may be missing.
async fn read(stream: &mut UnixStream) -> Result<(Request, Vec<u8>), String> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(stream).take(MAX_LINE as u64 + 1);
    let read = reader.read_until(b'\n', &mut line).await;
    read.map_err(|error| format!("can't read the line: {error}"))?;
    if line.len() > MAX_LINE {
        return Err("the line is longer than 2 MiB".to_owned());
    }
    let sent = reader.get_ref().buffer().to_vec();
    mend_surrogates(&mut line);
    if let Ok(request) = serde_json::from_slice(&line) {
        return Ok((Request::Attach(request), sent));
    }
    let request = serde_json::from_slice(&line).map(Request::Steer);
    request.map(|request| (request, sent)).map_err(|error| {
        format!(
            "expected a line such as {{\"type\":\"steer\",\"message\":\"...\"}} (or type follow_up): {error}"
        )
    })
}

async fn take(mut request: SteerRequest, handle: &AgentHandle, accept: Accept) -> SteerResponse {
    if request.message.len() > MAX_MESSAGE {
        let error = "the message is longer than 1 MiB; write it to a file and send the file's name";
        return SteerResponse::to(request, Err(error.to_owned()));
    }
    // Model servers reject NUL, in this and every later request.
    let text = std::mem::take(&mut request.message).replace('\0', "\u{fffd}");
    let message = Submission {
        kind: request.r#type.into(),
        content: vec![Content::text(text)],
        origin: Some(STEER_ORIGIN.to_owned()),
        session: request.session.take(),
        accept,
    };
    let delivered = handle.submit(message).await;
    SteerResponse::to(request, delivered.map_err(|refused| refused.to_string()))
}
