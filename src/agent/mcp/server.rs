//! One server: started when needed, asked for its tools, and started again after it has died.

use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::confine::{Confine, Confined, Rights};
use super::connection::{Connection, Failure};
use super::http::Remote;
use super::offers::Offers;
use super::pipes::Pipes;
use super::servers::{Launch, Surroundings};
use super::spec::{McpServer, Program, Transport};
use super::stdio;
use crate::hooks::quoted;
use crate::lock::lock;
use crate::process::Spawn;
use tiller_llm::Secret;
use tiller_llm::auth::Redactor;
use tokio_util::sync::CancellationToken;

/// How long the first request of a run waits for a server that starts.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// How long a server may take to start: it may have to be downloaded first.
const START_LIMIT: Duration = Duration::from_mins(2);
/// How often a server that has died is started again.
const RESTARTS: u32 = 3;
/// How long a prompt or a resource may take.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// The longest reason of an error, in characters.
const MAX_REASON: usize = 2_000;
/// The protocol version that tiller asks for. It works with any answer.
const PROTOCOL: &str = "2025-06-18";

/// A server, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpStatus {
    /// Its name.
    pub name: String,
    /// Whether a project brings it.
    pub of_project: bool,
    /// What it does.
    pub state: McpState,
    /// Whether its sandbox has the network; `None` without a sandbox.
    pub sandboxed: Option<bool>,
}

/// What a server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpState {
    /// Nothing has needed it yet.
    Idle,
    /// It has been started and hasn't listed its tools yet.
    Starting,
    /// It runs and has so many tools.
    Running(usize),
    /// It couldn't start, or has ended, for this reason.
    Failed(String),
}

pub(super) struct Server {
    pub spec: McpServer,
    /// Knows the values of its headers.
    pub redactor: Redactor,
    surroundings: Arc<Surroundings>,
    /// How the running program was started, if it is of a project.
    confined: Mutex<Option<Rules>>,
    state: watch::Sender<McpState>,
    /// When it was started first.
    begun: Mutex<Option<Instant>>,
    link: Mutex<Option<Arc<Connection>>>,
    offers: Mutex<Arc<Offers>>,
    /// How often it was started. The lock is held while it starts.
    starts: tokio::sync::Mutex<u32>,
}

/// What a server of a project may do.
struct Rules {
    /// Keeps what identifies the session.
    _confine: Arc<dyn Confine>,
    rights: Rights,
    /// As in [`McpStatus`].
    sandboxed: Option<bool>,
}

impl Server {
    pub fn new(spec: McpServer, surroundings: &Arc<Surroundings>) -> Arc<Self> {
        Arc::new(Self {
            redactor: redactor(&spec.transport),
            spec,
            surroundings: Arc::clone(surroundings),
            confined: Mutex::default(),
            state: watch::Sender::new(McpState::Idle),
            begun: Mutex::default(),
            link: Mutex::default(),
            offers: Mutex::default(),
            starts: tokio::sync::Mutex::default(),
        })
    }

    pub fn state(&self) -> McpState {
        let gone = lock(&self.link).as_ref().and_then(|link| link.gone());
        match (gone, self.state.borrow().clone()) {
            (Some(why), McpState::Running(_)) => McpState::Failed(why),
            (_, state) => state,
        }
    }

    pub fn status(&self) -> McpStatus {
        McpStatus {
            name: self.spec.name.clone(),
            of_project: self.spec.of_project,
            state: self.state(),
            sandboxed: self.sandboxed(),
        }
    }

    fn sandboxed(&self) -> Option<bool> {
        let rules = lock(&self.confined);
        rules.as_ref().and_then(|rules| rules.sandboxed)
    }

    fn confine(&self) -> Option<Arc<dyn Confine>> {
        lock(&self.surroundings.confine).clone()
    }

    /// Returns `false` if servers of a project have other rights now than when it was started.
    fn keeps_rights(&self) -> bool {
        let now = self.confine().map(|confine| confine.rights());
        let rules = lock(&self.confined);
        rules.as_ref().is_none_or(|it| Some(it.rights) == now)
    }

    /// Ends it if it has other rights than servers have now. It starts again when it is needed.
    pub async fn end_if_rights_changed(&self) {
        let mut starts = self.starts.lock().await;
        if self.keeps_rights() {
            return;
        }
        let link = lock(&self.link).take();
        if let Some(link) = link {
            *starts -= 1;
            link.end().await;
            *lock(&self.begun) = None;
            self.state.send_replace(McpState::Idle);
        }
    }

    /// Why it couldn't start, the last time.
    pub fn start_failure(&self) -> Option<String> {
        match &*self.state.borrow() {
            McpState::Failed(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// What it offered last.
    pub fn offers(&self) -> Arc<Offers> {
        Arc::clone(&lock(&self.offers))
    }

    /// The reason of an error without secrets, and not longer than models should read.
    fn reason(&self, why: &str) -> String {
        shortened(&self.redactor.redact(why))
    }

    /// An error that names it.
    pub fn failed(&self, why: &str) -> String {
        format!("MCP server {}: {}", self.spec.name, self.reason(why))
    }

    /// Sends a request that changes nothing, to the running server or a new one.
    ///
    /// # Errors
    /// Returns the error for the user.
    pub async fn request(self: &Arc<Self>, method: &str, params: Value) -> Result<Value, String> {
        let asked = async {
            let link = self.connection().await?;
            let answered = match link.request(method, params.clone(), None).await {
                Err(Failure::Expired) => {
                    let link = self.connection().await?;
                    link.request(method, params, None).await
                }
                answered => answered,
            };
            answered.map_err(Failure::text)
        };
        let asked = timeout(READ_LIMIT, asked).await;
        let limit = READ_LIMIT.as_secs();
        let asked = asked.unwrap_or_else(|_| Err(format!("it didn't answer within {limit} s")));
        asked.map_err(|why| self.failed(&why))
    }

    /// Starts it in the background, the first time. A server behind a URL may answer later.
    pub fn begin(self: &Arc<Self>) {
        let mut begun = lock(&self.begun);
        let is_remote = matches!(self.spec.transport, Transport::Http(_));
        let fails = matches!(&*self.state.borrow(), McpState::Failed(_));
        if self.spec.of_project && self.confine().is_none() {
            return;
        }
        if begun.is_none() || is_remote && fails || !self.keeps_rights() {
            begun.get_or_insert_with(Instant::now);
            self.state.send_replace(McpState::Starting);
            let server = Arc::clone(self);
            tokio::spawn(async move { server.connection().await.map(drop) });
        }
    }

    /// Waits until it has listed its tools or failed, but only for some seconds after its start.
    pub async fn settled(&self) {
        let Some(begun) = *lock(&self.begun) else {
            return;
        };
        let mut state = self.state.subscribe();
        let settled = state.wait_for(|state| *state != McpState::Starting);
        let _ = timeout_at(begun + FIRST_WAIT, settled).await;
    }

    /// Ends it.
    pub async fn end(&self) {
        let link = lock(&self.link).take();
        if let Some(link) = link {
            link.end().await;
        }
    }

    /// The running server, started again if it has died.
    ///
    /// # Errors
    /// Returns why it doesn't run.
    pub async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        // A task of its own: a call that is stopped doesn't stop the start.
        let server = Arc::clone(self);
        let task = tokio::spawn(async move { server.connect().await });
        task.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    async fn connect(self: Arc<Self>) -> Result<Arc<Connection>, String> {
        let mut starts = self.starts.lock().await;
        let link = lock(&self.link).clone();
        let gone = match link {
            Some(link) => match link.gone() {
                None if self.keeps_rights() => return Ok(link),
                None => {
                    *starts -= 1;
                    lock(&self.link).take();
                    link.end().await;
                    None
                }
                why => why,
            },
            None => None,
        };
        if *starts > RESTARTS && matches!(self.spec.transport, Transport::Stdio(_)) {
            let why = gone.unwrap_or_else(|| "it doesn't start".to_owned());
            return Err(format!("{why}; tiller has started it {starts} times"));
        }
        *starts += 1;
        let started = match timeout(START_LIMIT, self.open()).await {
            Ok(started) => started,
            Err(_) => Err(format!(
                "it didn't answer within {} s",
                START_LIMIT.as_secs()
            )),
        };
        let name = &self.spec.name;
        match started {
            Ok((link, capabilities, offers)) => {
                tracing::info!("MCP server {name}: {} tools", offers.tools.len());
                let link = Arc::new(link);
                *lock(&self.link) = Some(Arc::clone(&link));
                self.take(offers);
                let (server, it) = (Arc::downgrade(&self), Arc::downgrade(&link));
                tokio::spawn(follow(server, it, capabilities));
                Ok(link)
            }
            Err(why) => {
                let mut why = self.reason(&why);
                if let (Some(false), Transport::Stdio(program)) =
                    (self.sandboxed(), &self.spec.transport)
                {
                    let _ = write!(
                        why,
                        ". It had no network. To allow it: tiller policy allow --network {}",
                        program.line()
                    );
                }
                tracing::warn!("MCP server {name}: {why}");
                self.state.send_replace(McpState::Failed(why.clone()));
                Err(why)
            }
        }
    }

    fn take(&self, offers: Offers) {
        let count = offers.tools.len();
        *lock(&self.offers) = offers.into();
        self.state.send_replace(McpState::Running(count));
    }

    /// Starts it and asks what it offers. Also returns its capabilities.
    async fn open(&self) -> Result<(Connection, Value, Offers), String> {
        let link = self.start().await?;
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "tiller", "version": env!("CARGO_PKG_VERSION")},
        });
        let begun = link.request("initialize", params, None).await;
        let mut begun = begun.map_err(Failure::text)?;
        link.agree_on(begun["protocolVersion"].as_str().unwrap_or(PROTOCOL));
        link.notify("notifications/initialized")
            .map_err(Failure::text)?;
        let capabilities = begun["capabilities"].take();
        let offers = Offers::list(&link, &capabilities).await?;
        Ok((link, capabilities, offers))
    }

    async fn start(&self) -> Result<Connection, String> {
        match &self.spec.transport {
            Transport::Stdio(program) => self.run(program).await,
            Transport::Http(endpoint) => {
                let remote = Remote::new(endpoint, &self.surroundings.launch.http)?;
                Ok(Connection::new(&self.redactor, |shared, to_send, end| {
                    remote.serve(shared, to_send, end)
                }))
            }
        }
    }

    /// The sandbox, if a project brings the server.
    async fn confined(&self, program: &Program, cwd: &Path) -> Result<Confined, String> {
        if !self.spec.of_project {
            return Ok(Confined::default());
        }
        let confine = self.confine().ok_or("it has no sandbox")?;
        let rights = confine.rights();
        let processes = &self.surroundings.launch.processes;
        let line = program.line_with_env();
        let confined = confine
            .confine(&line, !program.env.is_empty(), cwd, processes)
            .await?;
        *lock(&self.confined) = Some(Rules {
            _confine: confine,
            rights,
            sandboxed: confined.sandbox.as_ref().map(|_| confined.network),
        });
        Ok(confined)
    }

    async fn run(&self, program: &Program) -> Result<Connection, String> {
        let Launch {
            processes,
            environment,
            cwd,
            ..
        } = &self.surroundings.launch;
        let failed = |error: std::io::Error| format!("it couldn't start: {error}");
        let pipes = Pipes::new().map_err(failed)?;
        let [input, errors] = pipes.paths().map(|path| quoted(&path.to_string_lossy()));
        let mut environment = environment.clone();
        environment.retain(|(name, _)| !program.env.keys().any(|own| name == own.as_str()));
        let own = program.env.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.into())));
        let cwd = cwd.join(&program.cwd);
        if !cwd.is_dir() {
            return Err(format!("there is no folder {}", cwd.display()));
        }
        let mut confined = self.confined(program, &cwd).await?;
        if let Some(sandbox) = &mut confined.sandbox {
            let folder = pipes.folder.path().to_owned();
            sandbox.visible.push(folder.clone());
            sandbox.writable.push(folder);
        }
        let spawn = Spawn {
            command: format!("exec {} <{input} 2>{errors}", program.line()),
            cwd,
            environment,
            sandbox: confined.sandbox.map(Arc::new),
        };
        let running = processes.start(spawn, &CancellationToken::new());
        let running = running.map_err(failed)?;
        Ok(Connection::new(&self.redactor, |shared, to_write, end| {
            stdio::serve(shared, (running, confined.guard), pipes, to_write, end)
        }))
    }
}

/// Knows the values of the headers, whole and without a first word such as `Bearer`.
fn redactor(transport: &Transport) -> Redactor {
    let redactor = Redactor::default();
    if let Transport::Http(endpoint) = transport {
        for value in endpoint.headers.values() {
            redactor.add(value);
            if let Some((_, last)) = value.expose().rsplit_once(' ') {
                redactor.add(&Secret::new(last));
            }
        }
    }
    redactor
}

/// Asks again whenever the server says that its offers have changed. Keeps neither alive.
async fn follow(server: Weak<Server>, link: Weak<Connection>, capabilities: Value) {
    let Some(changed) = link.upgrade().map(|link| link.offers_changed()) else {
        return;
    };
    loop {
        changed.notified().await;
        let (Some(server), Some(link)) = (server.upgrade(), link.upgrade()) else {
            return;
        };
        if link.gone().is_some() {
            return;
        }
        let listed = timeout(START_LIMIT, Offers::list(&link, &capabilities)).await;
        if let Ok(Ok(offers)) = listed {
            server.take(offers);
        }
    }
}

fn shortened(why: &str) -> String {
    match why.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}... (cut)", &why[..end]),
        None => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut() {
        assert_eq!(shortened("no"), "no");
        let cut = shortened(&"ü".repeat(5_000_000));
        assert_eq!(cut, format!("{}... (cut)", "ü".repeat(MAX_REASON)));
    }
}
