//! A running server: sends requests, and hands each answer to its request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::select;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::message::{self, Incoming};
use super::pipes::Pipes;
use crate::lock::lock;
use crate::process::{ExitStatus, Running, Status};

/// The longest message of a server, in bytes. A picture is some megabytes.
const MAX_LINE: usize = 32 << 20;
/// How much of its standard error is kept, in bytes.
const MAX_ERRORS: usize = 2_000;
/// Messages that wait until the server reads them.
const MAX_WAITING: usize = 1_000;
/// How long a server that has closed its output may take to exit.
const EXIT: Duration = Duration::from_millis(300);

/// Dropping it ends the server.
pub(super) struct Connection {
    shared: Arc<Shared>,
    _end: DropGuard,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server answered with an error.
    Refused(String),
    /// The server is gone, for this reason.
    Gone(String),
}

/// Receives what a server says about a call's progress.
pub(super) type OnProgress = Box<dyn Fn(&Value) + Send>;

struct Shared {
    lines: mpsc::Sender<String>,
    requests: Mutex<Requests>,
    last_id: AtomicU64,
    tools_changed: Arc<Notify>,
}

#[derive(Default)]
struct Requests {
    open: HashMap<u64, OpenRequest>,
    /// Why the server is gone.
    gone: Option<String>,
}

struct OpenRequest {
    answer: oneshot::Sender<Result<Value, Failure>>,
    on_progress: Option<OnProgress>,
}

impl Connection {
    pub fn new(running: Running, pipes: Pipes) -> Self {
        let (lines, to_write) = mpsc::channel(MAX_WAITING);
        let shared = Arc::new(Shared {
            lines,
            requests: Mutex::default(),
            last_id: AtomicU64::new(0),
            tools_changed: Arc::default(),
        });
        let end = CancellationToken::new();
        tokio::spawn(serve(
            Arc::clone(&shared),
            running,
            pipes,
            to_write,
            end.clone(),
        ));
        Self {
            shared,
            _end: end.drop_guard(),
        }
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request.
    pub async fn request(
        &self,
        method: &str,
        mut params: Value,
        on_progress: Option<OnProgress>,
    ) -> Result<Value, Failure> {
        let shared = &self.shared;
        let id = shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        if on_progress.is_some() {
            params["_meta"] = json!({"progressToken": id});
        }
        let (answer, answered) = oneshot::channel();
        {
            let mut requests = lock(&shared.requests);
            if let Some(why) = &requests.gone {
                return Err(Failure::Gone(why.clone()));
            }
            let open = OpenRequest {
                answer,
                on_progress,
            };
            requests.open.insert(id, open);
        }
        let _cancel = CancelOnDrop { shared, id };
        shared.send(message::request(id, method, &params))?;
        let gone = || Failure::Gone("it was stopped".to_owned());
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    pub fn notify(&self, method: &str) -> Result<(), Failure> {
        self.shared.send(message::notification(method, &json!({})))
    }

    /// Why the server is gone, if it is.
    pub fn gone(&self) -> Option<String> {
        lock(&self.shared.requests).gone.clone()
    }

    /// Signals that its tools have changed, or that it is gone.
    pub fn tools_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.tools_changed)
    }
}

/// Tells the server that the request no longer matters, unless it was answered.
struct CancelOnDrop<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if lock(&self.shared.requests).open.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the user stopped it"});
            let line = message::notification("notifications/cancelled", &params);
            let _ = self.shared.send(line);
        }
    }
}

impl Shared {
    fn send(&self, line: String) -> Result<(), Failure> {
        let sent = self.lines.try_send(line);
        sent.map_err(|_| Failure::Gone("it doesn't read its input".to_owned()))
    }

    fn receive(&self, line: &[u8]) {
        for incoming in message::parse(line) {
            match incoming {
                Incoming::Answer(id, answer) => {
                    let open = lock(&self.requests).open.remove(&id);
                    if let Some(open) = open {
                        let _ = open.answer.send(answer.map_err(Failure::Refused));
                    }
                }
                Incoming::Request(id, method) => {
                    let _ = self.send(message::answer(&id, &method));
                }
                Incoming::Notification(method, params) => self.notified(&method, &params),
            }
        }
    }

    fn notified(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed" => self.tools_changed.notify_one(),
            "notifications/progress" => {
                let requests = lock(&self.requests);
                let id = params["progressToken"].as_u64();
                let open = id.and_then(|id| requests.open.get(&id));
                if let Some(on_progress) = open.and_then(|open| open.on_progress.as_ref()) {
                    on_progress(params);
                }
            }
            _ => {}
        }
    }

    /// Ends all requests.
    fn close(&self, why: &str) {
        let mut requests = lock(&self.requests);
        requests.gone = Some(why.to_owned());
        for (_, open) in requests.open.drain() {
            let _ = open.answer.send(Err(Failure::Gone(why.to_owned())));
        }
        self.tools_changed.notify_one();
    }
}

/// Talks to the server until it is gone or no longer needed, then ends it.
async fn serve(
    shared: Arc<Shared>,
    mut running: Running,
    pipes: Pipes,
    mut to_write: mpsc::Receiver<String>,
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
        while let Some(line) = to_write.recv().await {
            if input.write_all(line.as_bytes()).await.is_err() {
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
        () = end.cancelled() => "it was stopped".to_owned(),
        why = read(&shared, &mut running, &mut errors, &mut said) => why,
        () = write => return,
    };
    shared.close(&with_errors(why, &said));
    // Dropping it ends the server and everything that it started.
    drop(running);
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
                        return format!("it sent more than {} MB in one line", MAX_LINE >> 20);
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
        self.0.len() <= MAX_LINE
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
        assert!(!lines.push(&vec![b'x'; MAX_LINE], |_| {}));
    }
}
