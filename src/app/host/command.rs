//! Runs one command of the user and reports its output as it comes. The output is read, cut and
//! redacted like that of the model's commands.

use std::io;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Host;
use crate::agent::process::{ExitStatus, Running, Spawn, hidden_note};
use crate::agent::tool::CommandDetails;
use crate::agent::tools::{CommandOutput, ToolSettings};
use crate::app::attachments::command_block;

/// Commands that take longer are stopped: long-running ones belong in another terminal.
const LIMIT: Duration = Duration::from_mins(10);
/// Minimum time between reports of the last lines.
const PROGRESS: Duration = Duration::from_millis(50);
/// How long to wait for more output once the shell has ended.
const DRAIN: Duration = Duration::from_millis(100);
/// Bytes per read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// The progress of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandUpdate {
    /// The next piece of the output, cleaned and redacted.
    Output(String),
    /// Its last lines, at most every 50 ms.
    Shown(CommandDetails),
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandEnd {
    /// Its output and its exit.
    pub details: CommandDetails,
    /// The error, if any.
    pub failure: Option<String>,
}

impl CommandEnd {
    /// The block that tells the model about the command with its next message.
    pub fn block(&self) -> String {
        let details = &self.details;
        let note = details.note.iter().map(|note| format!("\n[{note}]"));
        let output: String = [details.output.clone()].into_iter().chain(note).collect();
        let ended = match (details.exit_code, &self.failure) {
            (Some(code), _) => format!("exit=\"{code}\""),
            (None, Some(why)) => format!("failed=\"{}\"", why.replace('"', "'")),
            (None, None) => "exit=\"0\"".to_owned(),
        };
        command_block(&details.command, &ended, &output)
    }
}

impl Host {
    /// Runs the user's own command, without a sandbox. Dropping the future ends it and everything
    /// it started. While `report` waits, nothing is read of the command's output.
    pub async fn run_command<F: Future<Output = ()> + Send>(
        &self,
        command: String,
        mut report: impl FnMut(CommandUpdate) -> F + Send,
    ) -> CommandEnd {
        let begun = Instant::now();
        let mut details = CommandDetails {
            command: command.clone(),
            ..CommandDetails::default()
        };
        let environment: Vec<_> = std::env::vars_os().collect();
        let is_missing =
            |name: &&String| environment.iter().all(|(known, _)| known != name.as_str());
        let missing: Vec<String> = self.hidden.iter().filter(is_missing).cloned().collect();
        let spawn = Spawn {
            command,
            cwd: self.cwd.clone(),
            environment,
            sandbox: None,
        };
        let processes = self.processes.clone();
        let started = spawn_blocking(move || processes.start(spawn, &CancellationToken::new()));
        let failure = match started
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
        {
            Ok(running) => self.follow(running, &mut details, &mut report).await,
            Err(error) => Some(format!("couldn't start: {error}")),
        };
        details.duration_ms = Some(begun.elapsed().as_millis() as u64);
        if failure.is_some() {
            details.note = hidden_note(&missing, &details.output);
        }
        CommandEnd { details, failure }
    }

    /// Reads and reports output until the command ends. Returns the error, if any.
    async fn follow<F: Future<Output = ()> + Send>(
        &self,
        mut running: Running,
        details: &mut CommandDetails,
        report: &mut (impl FnMut(CommandUpdate) -> F + Send),
    ) -> Option<String> {
        let file = format!("tiller-output-{}.txt", uuid::Uuid::new_v4().simple());
        let file = std::env::temp_dir().join(file);
        let redactor = self.secrets.redactor();
        let mut output = CommandOutput::new(&ToolSettings::default(), file, &redactor);
        let mut status = running.status();
        let mut buffer = Vec::with_capacity(CHUNK);
        let mut open = true;
        let mut exit = None;
        let mut end = Instant::now() + LIMIT;
        let mut show_at: Option<Instant> = None;
        let mut shown: Option<Instant> = None;
        while open || exit.is_none() {
            let exited = async {
                let status = status.wait_for(|status| status.shell.is_some()).await;
                let known = status.ok().and_then(|status| status.shell.clone());
                known.unwrap_or(ExitStatus::Unknown(None))
            };
            tokio::select! {
                biased;
                () = sleep_until(end) => break,
                found = exited, if exit.is_none() => {
                    exit = Some(found);
                    end = Instant::now() + DRAIN;
                }
                () = sleep_until(show_at.unwrap_or(end)), if show_at.is_some() => {
                    (show_at, shown) = (None, Some(Instant::now()));
                    output.show(details);
                    report(CommandUpdate::Shown(details.clone())).await;
                }
                read = running.read(&mut buffer), if open => {
                    open = matches!(read, Ok(1..));
                    output.push(&buffer).await;
                    report(CommandUpdate::Output(output.latest().into_owned())).await;
                    buffer.clear();
                    let now = Instant::now();
                    show_at = show_at.or(Some(shown.map_or(now, |shown| shown + PROGRESS)));
                }
            }
        }
        output.close().await;
        report(CommandUpdate::Output(output.latest().into_owned())).await;
        output.finish(Vec::new(), details).await;
        ended(exit, details)
    }
}

/// Notes how it ended; `None` means it took too long. Returns the error, if any.
fn ended(exit: Option<ExitStatus>, details: &mut CommandDetails) -> Option<String> {
    match exit {
        Some(ExitStatus::Exited(code)) => {
            details.exit_code = Some(code);
            (code != 0).then(|| format!("exit {code}"))
        }
        Some(ExitStatus::Killed(signal)) => {
            details.signal = Some(signal);
            Some(format!("killed by signal {signal}"))
        }
        Some(ExitStatus::NotStarted(why)) => Some(why),
        Some(ExitStatus::Unknown(_)) => Some("killed".to_owned()),
        None => {
            details.timed_out = true;
            Some(format!("timed out after {} s", LIMIT.as_secs()))
        }
    }
}
