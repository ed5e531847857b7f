//! The user's own commands (`bash`): one at a time. The model sees their output with the next message.

use std::io;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::answers::data;
use super::output::Output;
use super::shapes;
use crate::agent::tool::CommandDetails;
use crate::app::host::{CommandEnd, CommandUpdate, Host};

/// The command that is running, and what the model has yet to see.
#[derive(Debug)]
pub(super) struct Shell {
    running: Option<Running>,
    sender: mpsc::UnboundedSender<News>,
    news: mpsc::UnboundedReceiver<News>,
    /// Blocks for the next message.
    told: Vec<String>,
}

#[derive(Debug)]
struct Running {
    id: Option<Value>,
    task: AbortHandle,
    /// Its last lines so far.
    details: CommandDetails,
    /// Whether the model sees its output.
    is_told: bool,
}

/// News of a command.
#[derive(Debug)]
pub(super) enum News {
    Update(CommandUpdate),
    End(CommandEnd),
}

impl Shell {
    pub fn new() -> Self {
        let (sender, news) = mpsc::unbounded_channel();
        Self {
            running: None,
            sender,
            news,
            told: Vec::new(),
        }
    }

    /// Output that the next message carries.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// The message was accepted, or another session is open.
    pub fn forget(&mut self) {
        self.told.clear();
    }

    /// Waits for news. Cancel-safe.
    pub async fn next(&mut self) -> Option<News> {
        self.news.recv().await
    }

    /// Starts a command; it is answered when it ends.
    pub fn run(
        &mut self,
        host: &Host,
        id: Option<&Value>,
        command: String,
        is_told: bool,
    ) -> Result<(), String> {
        if self.running.is_some() {
            return Err("another command is still running; abort_bash stops it".to_owned());
        }
        if command.trim().is_empty() {
            return Err("the command is empty".to_owned());
        }
        let (host, news) = (host.clone(), self.sender.clone());
        let details = CommandDetails {
            command: command.clone(),
            ..CommandDetails::default()
        };
        let task = tokio::spawn(async move {
            let report = |update| drop(news.send(News::Update(update)));
            let end = host.run_command(command, report).await;
            let _ = news.send(News::End(end));
        });
        self.running = Some(Running {
            id: id.cloned(),
            task: task.abort_handle(),
            details,
            is_told,
        });
        Ok(())
    }

    /// Stops the running command, if any, and answers it.
    pub async fn stop(&mut self, output: &mut Output) -> io::Result<()> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        running.task.abort();
        let end = CommandEnd {
            details: running.details,
            failure: Some("stopped".to_owned()),
        };
        if running.is_told {
            self.told.push(end.block());
        }
        let stopped = data(shapes::bash(&end, true));
        output.respond(running.id.as_ref(), "bash", stopped).await
    }

    /// Passes news on to the client.
    pub async fn pass_on(&mut self, news: News, output: &mut Output) -> io::Result<()> {
        // News of a command that was stopped.
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        match news {
            News::Update(CommandUpdate::Output(delta)) if delta.is_empty() => Ok(()),
            News::Update(CommandUpdate::Output(delta)) => {
                let mut record = json!({"type": "bash_execution_update", "delta": delta});
                if let Some(id) = &running.id {
                    record["id"] = id.clone();
                }
                output.write(&record).await
            }
            News::Update(CommandUpdate::Shown(details)) => {
                running.details = details;
                Ok(())
            }
            News::End(end) => {
                let Some(running) = self.running.take() else {
                    return Ok(());
                };
                if running.is_told {
                    self.told.push(end.block());
                }
                let ended = data(shapes::bash(&end, false));
                output.respond(running.id.as_ref(), "bash", ended).await
            }
        }
    }
}
