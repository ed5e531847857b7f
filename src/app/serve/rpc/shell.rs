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

/// Pieces of output that may wait for the client. The command waits for room for more.
const WAITING: usize = 16;

/// The command that is running, and what the model has yet to see.
#[derive(Debug)]
pub(super) struct Shell {
    running: Option<Running>,
    /// What the last command tells; its end is the last.
    news: mpsc::Receiver<News>,
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
        Self {
            running: None,
            news: mpsc::channel(WAITING).1,
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

    /// Waits for news of the command; `None` if there is none to come. Cancel-safe.
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
        let host = host.clone();
        let news;
        (news, self.news) = mpsc::channel(WAITING);
        let details = CommandDetails {
            command: command.clone(),
            ..CommandDetails::default()
        };
        let task = tokio::spawn(async move {
            let report = |update| async {
                let _ = news.send(News::Update(update)).await;
            };
            let end = host.run_command(command, report).await;
            let _ = news.send(News::End(end)).await;
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

/// The client is gone, so no one could stop its command any more.
impl Drop for Shell {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.task.abort();
        }
    }
}
