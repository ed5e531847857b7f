//! What every front end offers its user besides the agent itself: opening sessions, and running the
//! user's own commands. Knows no screen and no standard streams.

mod carry_out;
mod command;
mod custom;
mod models;
mod running_commands;
mod sessions;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use super::dirs::Dirs;
use super::keys::KnownSecrets;
use super::mcp_files::McpFiles;
use super::models::Models;
use crate::agent::hooks::Hooks;
use crate::agent::mcp::Mcp;
use crate::agent::process::Processes;
use crate::agent::{AgentHandle, ToolSelection};

pub use carry_out::kept_trial;
pub use command::{CommandEnd, CommandUpdate};
pub use running_commands::RunningCommands;
pub use sessions::{NotOpened, SwitchedTo};

/// An agent and its surroundings, for one front end. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    /// The agent.
    pub handle: AgentHandle,
    /// Where tiller keeps its files.
    pub dirs: Dirs,
    /// The working folder of the agent and of the user's commands.
    pub cwd: PathBuf,
    /// The models to choose from.
    pub models: Arc<Models>,
    /// Secrets to remove from all texts that leave the program.
    pub secrets: KnownSecrets,
    /// The variables that tiller hides from commands.
    pub hidden: Vec<String>,
    /// Which tools the model may use.
    pub tool_set: ToolSelection,
    /// For the user's commands.
    pub processes: Processes,
    /// The agent's MCP servers.
    pub mcp: Mcp,
    /// Where these come from.
    pub mcp_files: McpFiles,
    /// Its hooks, for their list.
    pub hooks: Hooks,
    /// Whether sessions are saved.
    pub is_stored: bool,
    /// Whether the project is trusted now, for all screens.
    pub trusted: watch::Sender<bool>,
    /// Whether the agent always has the same session: an editor shows it as a thread.
    pub keeps_session: bool,
}
