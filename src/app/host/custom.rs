//! The prompt behind a line that a client sends.

use tokio::task::spawn_blocking;

use super::Host;
use crate::agent::tool::MCP_PREFIX;
use crate::app::commands::{self, CustomCommand, CustomCommands, as_sent, word_of, words};
use crate::llm::Content;

impl Host {
    /// The user's own commands.
    pub fn custom_commands(&self) -> CustomCommands {
        CustomCommands::new(&self.dirs, &self.cwd, *self.trusted.borrow())
    }

    /// Reads the user's own commands.
    pub async fn list_custom_commands(&self) -> Vec<CustomCommand> {
        let custom = self.custom_commands();
        let listed = spawn_blocking(move || custom.list()).await;
        let mut listed = listed.unwrap_or_default();
        listed.extend(self.mcp.prompts().into_iter().map(CustomCommand::of_server));
        listed
    }

    /// The prompt for a line such as `/mcp__SERVER__PROMPT Paris`, if a server has it.
    ///
    /// # Errors
    /// Returns why it can't be sent.
    pub async fn prompt_of_server(&self, typed: &str) -> Result<Option<String>, String> {
        let command = typed.trim().strip_prefix('/').unwrap_or_default();
        let Some(name) = word_of(command).filter(|word| word.starts_with(MCP_PREFIX)) else {
            return Ok(None);
        };
        let words = words(&command[name.len()..]);
        let found = self.mcp.prompt(name, &words).await?;
        Ok(found.map(|(body, server)| as_sent(typed, &format!("MCP server {server}"), &body)))
    }

    /// Replaces `typed` at the end of a message by the prompt of a server, if that's what it means.
    ///
    /// # Errors
    /// Returns why it can't be sent.
    pub async fn expand_prompt(&self, typed: &str, content: &mut [Content]) -> Result<(), String> {
        let Some(Content::Text(first)) = content.first_mut() else {
            return Ok(());
        };
        let is_prompt = typed.trim_start().starts_with(&format!("/{MCP_PREFIX}"));
        if let Some(before) = first.text.strip_suffix(typed).filter(|_| is_prompt) {
            let Some(prompt) = self.prompt_of_server(typed).await? else {
                return Err(format!(
                    "No MCP server has the prompt {}. See what runs: tiller -p /mcp",
                    typed.trim()
                ));
            };
            first.text = format!("{before}{prompt}");
        }
        Ok(())
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
        let found = match found.map_err(|why| why.to_string())? {
            None => self.prompt_of_server(&typed).await?,
            found => found,
        };
        Ok(found.unwrap_or(typed))
    }
}
