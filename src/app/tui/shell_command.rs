//! Runs one user's command and shows its output as it comes. The output is read, cut and redacted
//! like that of the model's commands.

use std::io;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::clock::reached;
use super::msg::{EffectResult, ShellEnd};
use crate::agent::process::{ExitStatus, Processes, Running, Spawn};
use crate::agent::tool::CommandDetails;
use crate::agent::tools::{CommandOutput, ToolSettings};
use crate::llm::auth::Redactor;

/// Commands that take longer are stopped: long-running ones belong in another terminal.
const LIMIT: Duration = Duration::from_mins(10);
/// Minimum time between updates of the output on the screen.
const PROGRESS: Duration = Duration::from_millis(50);
/// How long to wait for more output once the shell has ended.
const DRAIN: Duration = Duration::from_millis(100);
/// Bytes per read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

pub(super) struct ShellCommand {
    pub id: String,
    pub spawn: Spawn,
    pub redactor: Redactor,
    pub results: UnboundedSender<EffectResult>,
}

impl ShellCommand {
    /// Runs it; dropping this ends it and everything it started.
    pub(super) async fn run(self, processes: Processes) {
        let begun = Instant::now();
        let mut details = CommandDetails {
            command: self.spawn.command.clone(),
            ..CommandDetails::default()
        };
        let spawn = self.spawn.clone();
        let started = spawn_blocking(move || processes.start(spawn, &CancellationToken::new()));
        let failure = match started
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
        {
            Ok(running) => self.follow(running, &mut details).await,
            Err(error) => Some(format!("couldn't start: {error}")),
        };
        details.duration_ms = Some(begun.elapsed().as_millis() as u64);
        let _ = self.results.send(EffectResult::Shell(ShellEnd {
            id: self.id,
            details,
            failure,
        }));
    }

    /// Reads and shows output until the command ends. Returns the error, if any.
    async fn follow(&self, mut running: Running, details: &mut CommandDetails) -> Option<String> {
        let file = format!("tiller-output-{}.txt", uuid::Uuid::new_v4().simple());
        let file = std::env::temp_dir().join(file);
        let mut output = CommandOutput::new(&ToolSettings::default(), file, &self.redactor);
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
                () = reached(show_at) => {
                    (show_at, shown) = (None, Some(Instant::now()));
                    output.show(details);
                    let result = EffectResult::ShellOutput(self.id.clone(), details.clone());
                    let _ = self.results.send(result);
                }
                read = running.read(&mut buffer), if open => {
                    open = matches!(read, Ok(1..));
                    output.push(&buffer).await;
                    buffer.clear();
                    let now = Instant::now();
                    show_at = show_at.or(Some(shown.map_or(now, |shown| shown + PROGRESS)));
                }
            }
        }
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
