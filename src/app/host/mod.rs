//! What every front end offers its user besides the agent itself: opening sessions, and running the
//! user's own commands. Knows no screen and no standard streams.

mod command;
mod sessions;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use super::dirs::Dirs;
use super::keys::KnownSecrets;
use super::models::{KeyState, Models};
use crate::agent::AgentHandle;
use crate::agent::process::Processes;
use crate::llm::Model;

pub use command::{CommandEnd, CommandUpdate};
pub use sessions::{NotOpened, SwitchedTo};

/// How long to wait for the model servers on this machine.
const LOCAL_SERVERS: Duration = Duration::from_millis(500);

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
    /// For the user's commands.
    pub processes: Processes,
    /// Whether sessions are saved.
    pub is_stored: bool,
}

impl Host {
    /// The models with a key, or on this machine.
    ///
    /// # Errors
    /// Fails only if reading the catalogue panics.
    pub async fn usable_models(&self) -> Result<Vec<Model>, String> {
        let found = self.models.discover(LOCAL_SERVERS).await;
        let models = self.models.clone();
        let listed = spawn_blocking(move || models.list(&found));
        let listed = listed.await.map_err(|panic| panic.to_string())?;
        let usable = listed.rows.into_iter();
        let usable = usable.filter(|row| row.key == KeyState::Ready);
        Ok(usable.map(|row| (*row.model).clone()).collect())
    }
}
