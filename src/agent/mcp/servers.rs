//! All servers of an agent.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use tokio::task::spawn_blocking;

use super::confine::Confine;
use super::offers::MAX_SCHEMA;
use super::server::{McpStatus, Server};
use super::spec::McpSource;
use super::tool::{McpTool, full_name};
use crate::lock::lock;
use crate::process::Processes;
use crate::tool::Tool;
use crate::tools::ToolSettings;
use tiller_llm::http::Http;

/// The servers of an agent. Cheap to clone. Without any, nothing is started or awaited.
#[derive(Clone, Default)]
pub struct Mcp(Option<Arc<Shared>>);

pub(super) struct Shared {
    source: Mutex<Box<dyn McpSource>>,
    /// In the order of their files.
    servers: Mutex<Vec<Arc<Server>>>,
    /// What the last reading found for the user.
    notices: Mutex<Vec<String>>,
    surroundings: Arc<Surroundings>,
    settings: ToolSettings,
}

/// What all servers start with.
pub struct Launch {
    /// Their scope.
    pub processes: Processes,
    /// The variables that they see besides their own.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// For servers behind a URL. It lets them stay silent as long as a call may take.
    pub http: Http,
}

/// What a server needs to know besides its file.
pub(super) struct Surroundings {
    pub launch: Launch,
    /// For servers of a project.
    pub confine: Mutex<Option<Arc<dyn Confine>>>,
}

impl Mcp {
    /// Returns the servers of `source`. They are read and started when the first run begins. Results are cut
    /// as `settings` say for commands.
    pub fn new(source: Box<dyn McpSource>, launch: Launch, settings: ToolSettings) -> Self {
        Self(Some(Arc::new(Shared {
            source: Mutex::new(source),
            servers: Mutex::default(),
            notices: Mutex::default(),
            surroundings: Arc::new(Surroundings {
                launch,
                confine: Mutex::default(),
            }),
            settings,
        })))
    }

    /// Reads the servers if their files have changed, and starts those that are new.
    pub async fn begin(&self) {
        let Some(shared) = self.0.clone() else {
            return;
        };
        shared.follow().await;
        for server in self.servers() {
            server.begin();
        }
    }

    /// Sets the sandbox for servers of a project. Without one, they don't start.
    pub(crate) fn set_confine(&self, confine: Arc<dyn Confine>) {
        if let Some(shared) = &self.0 {
            *lock(&shared.surroundings.confine) = Some(confine);
        }
    }

    /// Waits for the servers that start, but only for some seconds.
    pub async fn settled(&self) {
        join_all(self.servers().iter().map(|server| server.settled())).await;
    }

    /// What the user should know: servers that didn't start, and errors in files.
    pub fn notices(&self) -> Vec<String> {
        let Some(shared) = &self.0 else {
            return Vec::new();
        };
        let mut notices = lock(&shared.notices).clone();
        for server in self.servers() {
            if let Some(why) = server.start_failure() {
                let name = &server.spec.name;
                notices.push(format!("MCP server {name} didn't start: {why}"));
            }
            for tool in &server.offers().left_out {
                let tool = full_name(&server.spec.name, tool);
                let limit = MAX_SCHEMA >> 10;
                notices.push(format!(
                    "{tool} isn't offered: its schema is over {limit} KiB"
                ));
            }
        }
        notices
    }

    /// What each server does.
    pub fn states(&self) -> Vec<McpStatus> {
        self.servers().iter().map(|it| it.status()).collect()
    }

    /// The tools of all servers, under names of their own.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let Some(shared) = &self.0 else {
            return Vec::new();
        };
        let mut names = HashSet::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for server in self.servers() {
            for remote in &server.offers().tools {
                let tool = McpTool::new(&server, remote, &shared.settings);
                if names.insert(tool.spec().name.clone()) {
                    tools.push(Arc::new(tool));
                }
            }
        }
        tools
    }

    /// Ends servers of a project that have other rights than the mode gives now.
    pub(crate) fn follow_rights(&self) {
        for server in self.servers() {
            tokio::spawn(async move { server.end_if_rights_changed().await });
        }
    }

    /// Ends all servers.
    pub(crate) async fn end(&self) {
        if let Some(shared) = &self.0 {
            let servers = std::mem::take(&mut *lock(&shared.servers));
            shared.surroundings.launch.processes.stop_all();
            join_all(servers.iter().map(|server| server.end())).await;
        }
    }

    pub(super) fn servers(&self) -> Vec<Arc<Server>> {
        let shared = self.0.as_ref();
        shared.map_or_else(Vec::new, |shared| lock(&shared.servers).clone())
    }
}

impl Shared {
    /// Reads the servers if their files have changed. Those that stay the same run on.
    async fn follow(self: Arc<Self>) {
        let read = spawn_blocking(move || {
            let Some(found) = lock(&self.source).changed() else {
                return;
            };
            *lock(&self.notices) = found.notices;
            let mut servers = lock(&self.servers);
            let known = std::mem::take(&mut *servers);
            *servers = (found.servers.into_iter())
                .map(|spec| {
                    let same = known.iter().find(|server| server.spec == spec);
                    same.map_or_else(|| Server::new(spec.clone(), &self.surroundings), Arc::clone)
                })
                .collect();
        });
        let _ = read.await;
    }
}
