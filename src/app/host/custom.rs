//! The prompt behind a line that a client sends.

use tokio::task::spawn_blocking;

use super::Host;
use crate::app::commands::{self, CustomCommand, CustomCommands};

impl Host {
    /// The user's own commands.
    pub fn custom_commands(&self) -> CustomCommands {
        CustomCommands::new(&self.dirs, &self.cwd, *self.trusted.borrow())
    }

    /// Reads the user's own commands.
    pub async fn list_custom_commands(&self) -> Vec<CustomCommand> {
        let custom = self.custom_commands();
        let listed = spawn_blocking(move || custom.list()).await;
        listed.unwrap_or_default()
    }

    /// What to send for `typed`: the prompt, if it is a command that stands for one.
    ///
    /// # Errors
    /// Returns why a command of the user or the project isn't used.
    pub async fn prompt_of(&self, typed: String) -> Result<String, String> {
        if !typed.trim_start().starts_with('/') {
            return Ok(typed);
        }
        if let Some(prompt) = commands::expand(&typed) {
            return Ok(prompt);
        }
        let custom = self.custom_commands();
        let (found, typed) = spawn_blocking(move || (custom.prompt(&typed), typed))
            .await
            .map_err(|error| error.to_string())?;
        let found = found.map_err(|why| why.to_string())?;
        Ok(found.unwrap_or(typed))
    }
}
