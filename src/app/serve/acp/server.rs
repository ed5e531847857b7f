//! Reads the client's messages and passes them on to the sessions.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::{JoinError, JoinHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::client::Client;
use super::session::{Command, Session};
use super::wire::{
    Answer, CancelRequest, Incoming, ListSessions, NewSession, OldSession, Prompt, ReadMessage,
    RpcError, SetMode, SetOption, ToSession, params,
};
use crate::agent::process::Processes;
use crate::agent::session::StoredSession;
use crate::app::host::Host;
use crate::app::out::{eprint_error, eprint_line};
use crate::app::outcome::{Outcome, StartError};
use crate::app::serve::lines;
use crate::app::sessions::{SessionScope, find, rows};
use crate::app::signals::Signals;

/// The version of the protocol.
const VERSION: u64 = 1;
/// Time to close all sessions; it takes longer only on a hanging disk, or if the client doesn't read.
const CLOSING: Duration = Duration::from_secs(2);
/// Time to save sessions whose client doesn't read.
const SAVING: Duration = Duration::from_millis(500);
/// Time for killed processes to exit.
const DYING: Duration = Duration::from_millis(50);

/// Makes the agents of sessions.
pub trait Agents: Send + Sync {
    /// An agent in `cwd` with a new session, or with the one in this file. May take long.
    ///
    /// # Errors
    /// Fails like a start of the program.
    fn open(&self, cwd: PathBuf, session: Option<PathBuf>) -> Result<OpenAgent, StartError>;

    /// The folder of all sessions.
    fn sessions(&self) -> PathBuf;

    /// Moves the session in this file to the trash.
    ///
    /// # Errors
    /// Fails if another program has it open.
    fn remove(&self, file: &Path) -> Result<(), StartError>;
}

/// An agent for one session.
pub struct OpenAgent {
    /// The agent.
    pub host: Host,
    /// For the user.
    pub notices: Vec<String>,
    /// What must live as long as the agent.
    pub keep: Box<dyn std::any::Any + Send + Sync>,
}

/// Serves one client on stdin and stdout until stdin ends or a signal arrives. All processes of the
/// sessions are dead when this returns.
pub async fn run_acp(agents: Arc<dyn Agents>, processes: &Processes) -> Outcome {
    let outcome = serve(agents).await.unwrap_or_else(|error| {
        eprint_error(format_args!("can't start: {error}"));
        Outcome::Failed
    });
    processes.kill_all();
    let _ = timeout(DYING, processes.empty()).await;
    outcome
}

async fn serve(agents: Arc<dyn Agents>) -> io::Result<Outcome> {
    let mut signals = Signals::new([
        (Signal::SIGINT as i32, Outcome::Interrupted),
        (Signal::SIGTERM as i32, Outcome::Terminated),
        (Signal::SIGHUP as i32, Outcome::HungUp),
    ])?;
    let (client, mut written) = Client::start()?;
    let unread = written.abort_handle();
    let mut lines = lines::read(io::stdin(), Incoming::of)?;
    let mut server = Server {
        agents,
        client,
        sessions: HashMap::new(),
        opening: JoinSet::new(),
        closing: HashMap::new(),
    };
    // A client that doesn't read delays its answers, but no signal.
    let outcome = tokio::select! {
        biased;
        outcome = signals.next() => outcome,
        done = &mut written => after_writing(done.map_or(Ok(()), |done| done)),
        () = server.serve(&mut lines) => Outcome::Done,
    };
    // Ends all sessions at once; each task ends when its commands do.
    let Server {
        sessions,
        client,
        opening,
        closing,
        ..
    } = server;
    let open = sessions.into_values().map(|link| link.task);
    let tasks: Vec<JoinHandle<()>> = open.chain(closing.into_values()).collect();
    drop((client, opening));
    let mut closed = pin!(async {
        for task in tasks {
            let _ = task.await;
        }
        if !written.is_finished() {
            let _ = (&mut written).await;
        }
    });
    if timeout(CLOSING, &mut closed).await.is_err() {
        // Lets go of the sessions that wait for the client to read.
        unread.abort();
        if timeout(SAVING, closed).await.is_err() {
            eprint_error("the disk is too slow: a session may be incomplete");
        }
    }
    Ok(outcome)
}

fn after_writing(done: io::Result<()>) -> Outcome {
    match done {
        Ok(()) => Outcome::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Outcome::Cut,
        Err(error) => {
            eprint_error(format_args!("can't write to stdout: {error}"));
            Outcome::Failed
        }
    }
}

struct Server {
    agents: Arc<dyn Agents>,
    client: Client,
    sessions: HashMap<String, Link>,
    opening: JoinSet<Opening>,
    /// Sessions that the client has closed, until nothing of them runs any more.
    closing: HashMap<String, JoinHandle<()>>,
}

/// An open session.
struct Link {
    commands: UnboundedSender<Command>,
    task: JoinHandle<()>,
}

/// A session that was requested.
struct Opening {
    request: Value,
    replay: bool,
    opened: Result<(String, Session), RpcError>,
}

impl Server {
    /// Serves the client to the end of its lines.
    async fn serve(&mut self, lines: &mut mpsc::Receiver<ReadMessage>) {
        loop {
            tokio::select! {
                biased;
                line = lines.recv() => match line {
                    Some(message) => self.on_message(message).await,
                    None => return,
                },
                Some(opened) = self.opening.join_next() => {
                    if let Ok(opened) = opened {
                        self.on_opened(opened).await;
                    }
                }
            }
        }
    }

    async fn on_message(&mut self, message: ReadMessage) {
        match message {
            Ok(Incoming::Request { id, method, params }) => {
                if let Some(answer) = self.on_request(&id, &method, &params).await.transpose() {
                    self.client.answer(id, answer).await;
                }
            }
            Ok(Incoming::Notification { method, params: it }) => {
                if method == "session/cancel" {
                    if let Ok(ToSession { session_id }) = params(&it)
                        && let Some(link) = self.sessions.get(&session_id)
                    {
                        let _ = link.commands.send(Command::Cancel);
                    }
                } else if method == "$/cancel_request"
                    && let Ok(CancelRequest { request_id }) = params(&it)
                {
                    for link in self.sessions.values() {
                        let request = request_id.clone();
                        let _ = link.commands.send(Command::CancelRequest(request));
                    }
                }
            }
            Ok(Incoming::Response { id, result }) => self.client.answered(&id, result),
            Err((id, error)) => self.client.answer(id, Err(error)).await,
        }
    }

    /// The answer, or `None` if it comes later.
    async fn on_request(
        &mut self,
        id: &Value,
        method: &str,
        it: &RawValue,
    ) -> Result<Option<Value>, RpcError> {
        let request = || id.clone();
        match method {
            "initialize" => {
                self.client.learn(&params(it)?);
                Ok(Some(capabilities()))
            }
            "authenticate" => Err(RpcError::params(
                "tiller has no login in the editor: add a key with tiller auth add PROVIDER",
            )),
            "session/new" => {
                let NewSession { cwd, mcp_servers } = params(it)?;
                leave_out(&mcp_servers);
                self.open(request(), cwd, None, false)
            }
            "session/load" | "session/resume" => {
                let old: OldSession = params(it)?;
                leave_out(&old.mcp_servers);
                let replay = method == "session/load";
                if self.sessions.contains_key(&old.session_id) {
                    let request = request();
                    return self.pass_on(&old.session_id, Command::Show { request, replay });
                }
                self.open(request(), old.cwd, Some(old.session_id), replay)
            }
            "session/list" => self.list(params(it)?).await.map(Some),
            "session/prompt" => {
                let Prompt { session_id, prompt } = params(it)?;
                let (request, blocks) = (request(), prompt);
                self.pass_on(&session_id, Command::Prompt { request, blocks })
            }
            "session/set_mode" => {
                let SetMode {
                    session_id,
                    mode_id,
                } = params(it)?;
                self.select(&session_id, request(), "mode".to_owned(), mode_id)
            }
            "session/set_config_option" => {
                let SetOption {
                    session_id,
                    config_id,
                    value,
                } = params(it)?;
                self.select(&session_id, request(), config_id, value)
            }
            "session/close" => {
                let ToSession { session_id } = params(it)?;
                let Some(link) = self.sessions.remove(&session_id) else {
                    return Err(RpcError::no_session(&session_id));
                };
                let (client, request) = (self.client.clone(), request());
                let closing = tokio::spawn(async move {
                    drop(link.commands);
                    let _ = link.task.await;
                    client.answer(request, Ok(json!({}))).await;
                });
                self.closing.retain(|_, task| !task.is_finished());
                self.closing.insert(session_id, closing);
                Ok(None)
            }
            "session/delete" => {
                let ToSession { session_id } = params(it)?;
                if let Some(link) = self.sessions.remove(&session_id) {
                    drop(link.commands);
                    let _ = link.task.await;
                }
                if let Some(closing) = self.closing.remove(&session_id) {
                    let _ = closing.await;
                }
                let agents = Arc::clone(&self.agents);
                let removed = spawn_blocking(move || {
                    let file = file_of(&session_id, &agents.sessions())?;
                    agents.remove(&file).map_err(|error| why_not(&error))
                });
                let crash = |panic: JoinError| Err(RpcError::internal(panic.to_string()));
                removed
                    .await
                    .unwrap_or_else(crash)
                    .map(|()| Some(json!({})))
            }
            method => Err(RpcError::method(method)),
        }
    }

    fn select(
        &self,
        session: &str,
        request: Value,
        id: String,
        value: String,
    ) -> Result<Option<Value>, RpcError> {
        self.pass_on(session, Command::Select { request, id, value })
    }

    /// Passes a command on to its session, which answers.
    fn pass_on(&self, session: &str, command: Command) -> Result<Option<Value>, RpcError> {
        let link = self.sessions.get(session);
        let link = link.ok_or_else(|| RpcError::no_session(session))?;
        let sent = link.commands.send(command);
        sent.map_err(|_| RpcError::internal("the session has ended"))?;
        Ok(None)
    }

    fn open(
        &mut self,
        request: Value,
        cwd: PathBuf,
        wanted: Option<String>,
        replay: bool,
    ) -> Result<Option<Value>, RpcError> {
        if !cwd.is_absolute() {
            return Err(RpcError::params("cwd is not an absolute path"));
        }
        let (agents, client) = (Arc::clone(&self.agents), self.client.clone());
        let closing = wanted.as_ref().and_then(|id| self.closing.remove(id));
        self.opening.spawn(async move {
            if let Some(closing) = closing {
                let _ = closing.await;
            }
            let opened = spawn_blocking(move || {
                let file = wanted.map(|id| file_of(&id, &agents.sessions()));
                let opened = agents.open(cwd, file.transpose()?);
                opened.map_err(|error| why_not(&error))
            });
            let crash = |panic: JoinError| Err(RpcError::internal(panic.to_string()));
            let opened = match opened.await.unwrap_or_else(crash) {
                Ok(opened) => Session::new(opened, client).await,
                Err(error) => Err(error),
            };
            Opening {
                request,
                replay,
                opened,
            }
        });
        Ok(None)
    }

    async fn on_opened(&mut self, opening: Opening) {
        let Opening {
            request,
            replay,
            opened,
        } = opening;
        let (id, session) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.client.answer(request, Err(error)).await,
        };
        let (commands, waiting) = mpsc::unbounded_channel();
        let _ = commands.send(Command::Show { request, replay });
        let task = tokio::spawn(session.run(waiting));
        let link = Link { commands, task };
        self.sessions.insert(id, link);
    }

    async fn list(&self, wanted: ListSessions) -> Answer {
        let root = self.agents.sessions();
        let listed = spawn_blocking(move || {
            let scope = match wanted.cwd {
                Some(_) => SessionScope::Folder,
                None => SessionScope::All,
            };
            let cwd = wanted.cwd.as_deref().unwrap_or(Path::new("/"));
            rows(&root, cwd, scope)
        });
        let listed = listed.await;
        let listed = listed.map_err(|panic| RpcError::internal(panic.to_string()))?;
        let rows = listed.map_err(RpcError::internal)?;
        let sessions = rows.into_iter().filter(|row| !row.cwd.is_empty());
        let sessions: Vec<Value> = sessions
            .map(|row| {
                let changed = jiff::Timestamp::from_millisecond(row.changed).unwrap_or_default();
                json!({
                    "sessionId": row.id,
                    "cwd": row.cwd,
                    "title": row.label(),
                    "updatedAt": changed.to_string(),
                })
            })
            .collect();
        Ok(json!({"sessions": sessions}))
    }
}

fn capabilities() -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentInfo": {
            "name": "tiller",
            "title": "tiller",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
        },
        "authMethods": [],
    })
}

fn leave_out(mcp_servers: &[Value]) {
    if !mcp_servers.is_empty() {
        eprint_line(
            "tiller: ignoring the editor's MCP servers; write them into mcp.json, see tiller docs mcp",
        );
    }
}

/// The file of the session with exactly this id.
fn file_of(id: &str, root: &Path) -> Result<PathBuf, RpcError> {
    let found = find(id, root).ok();
    let found = found.filter(|path| StoredSession::at(path).id == id);
    found.ok_or_else(|| RpcError::no_session(id))
}

/// The error of a session that can't be opened.
fn why_not(error: &StartError) -> RpcError {
    match error.outcome {
        Outcome::Usage => RpcError::params(&error.message),
        _ if error.message.contains("tiller auth add") => RpcError::auth(&error.message),
        _ => RpcError::internal(&error.message),
    }
}
