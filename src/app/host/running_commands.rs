//! The slash commands that another program runs.

use tokio::task::JoinSet;

use super::Host;
use crate::app::commands::{self, Run, SlashCommand};

/// Running commands, each with the request to answer when it has been carried out.
#[derive(Debug)]
pub struct RunningCommands<T>(JoinSet<(T, Result<String, String>)>);

impl<T: Send + 'static> RunningCommands<T> {
    /// Starts the command that a prompt consists of. Gives the request back if it is none, or one that sends
    /// a prompt.
    ///
    /// # Errors
    /// Returns the request.
    pub fn start(&mut self, host: &Host, request: T, prompt: &str) -> Result<(), T> {
        let sends = |command: &SlashCommand| matches!(command.run, Run::Prompt(_));
        match commands::find(prompt) {
            Some((command, argument)) if !sends(command) => {
                let (host, argument) = (host.clone(), argument.to_owned());
                self.0.spawn(async move {
                    let result = command.start(&host, &argument).await;
                    (request, result)
                });
                Ok(())
            }
            _ => Err(request),
        }
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next that has been carried out, with its text for the user. `None` while none runs.
    pub async fn next(&mut self) -> Option<(T, Result<String, String>)> {
        self.0.join_next().await?.ok()
    }
}

impl<T: 'static> Default for RunningCommands<T> {
    fn default() -> Self {
        Self(JoinSet::new())
    }
}
