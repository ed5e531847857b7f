//! Runs a command, shows its output as it arrives, and decides when the result is ready and what it says.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::future::pending;
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::output::Output;
use crate::process::{ExitStatus, Processes, Running, Secrets, Spawn, Status, hidden_note};
use crate::tool::{CommandDetails, Details, Effects, ToolContext, ToolError, ToolOutput};
use crate::tools::ToolSettings;
use crate::tools::call;
use crate::tools::typed::{self, TypedTool};
use tiller_llm::{Content, ToolSpec};

/// Live output goes to the screen at most this often.
const PROGRESS: Duration = Duration::from_millis(50);
/// Once the shell has exited, the result is ready after this long without output.
const QUIET_AFTER_EXIT: Duration = Duration::from_millis(100);
/// Once the shell has exited, the result is ready after this long at the latest.
const MAX_AFTER_EXIT: Duration = Duration::from_secs(1);
/// How long the result of a timeout waits for processes to end.
const MAX_KILL_WAIT: Duration = Duration::from_secs(4);
/// The most processes named in the details, which are stored with the session.
const MAX_NAMED: usize = 50;
/// Longest command in bytes: Linux takes 128 KiB in one argument.
const MAX_COMMAND: usize = 120 * 1024;
/// Bytes read at once: as much as a pipe holds.
const CHUNK: usize = 64 * 1024;

#[derive(Debug)]
pub struct Bash {
    settings: ToolSettings,
    /// Made with the first command.
    secrets: OnceLock<Secrets>,
}

impl Bash {
    pub fn new(settings: &ToolSettings) -> Self {
        Self {
            settings: settings.clone(),
            secrets: OnceLock::new(),
        }
    }

    fn timeout(&self, asked: Option<f64>) -> Duration {
        let asked = asked.filter(|seconds| *seconds > 0.0);
        let most = self.settings.bash_max_timeout_s as f64;
        let seconds = asked
            .unwrap_or(self.settings.bash_timeout_s as f64)
            .min(most);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Args {
    command: String,
    timeout: Option<f64>,
    description: Option<String>,
}

impl TypedTool for Bash {
    type Args = Args;

    fn spec(&self) -> ToolSpec {
        let (usual, most) = (
            self.settings.bash_timeout_s,
            self.settings.bash_max_timeout_s,
        );
        typed::spec(
            "bash",
            format!(
                "Run a command with bash -c in the working directory; returns stdout and stderr \
                 together. Each call is a new shell: cd and variables do not carry over. Stdin is empty \
                 and there is no terminal, so pass flags that avoid questions. The last line gives the \
                 exit code if it is not 0. Long output is cut in the middle; a file has all of it. After \
                 {usual} seconds, or timeout, the command and everything it started is stopped; \
                 background processes end with the run. Prefer read, grep, find and ls for looking at \
                 files."
            ),
            &["command"],
            json!({
                "command": {
                    "type": "string",
                    "description": "Command line; several lines allowed"
                },
                "timeout": {
                    "type": "number",
                    "minimum": 1,
                    "description": format!("Timeout in seconds. Default {usual}, at most {most}")
                },
                "description": {
                    "type": "string",
                    "description": "Purpose, in five to ten words"
                }
            }),
        )
    }

    fn effects(&self, args: Args) -> Effects {
        Effects {
            command: Some(args.command),
            ..Effects::default()
        }
    }

    fn preview(&self, args: Args) -> Details {
        Details::Command(described(args))
    }

    async fn run(&self, args: Args, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let limit = self.timeout(args.timeout);
        let details = described(args);
        let line = Line {
            command: details.command.clone(),
            limit,
            environment: Vec::new(),
            details,
        };
        self.run_line(line, context).await
    }
}

/// A command line to run.
pub struct Line {
    /// For the shell.
    pub command: String,
    /// How long it may take.
    pub limit: Duration,
    /// Variables besides those that every command sees.
    pub environment: Vec<(OsString, OsString)>,
    /// What the screen shows of it at first.
    pub details: CommandDetails,
}

impl Bash {
    /// Runs a line and returns its output, cut for the model.
    pub async fn run_line(
        &self,
        line: Line,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        check(&line.command)?;
        let secrets = self
            .secrets
            .get_or_init(|| Secrets::new(&self.settings.bash_secret_env));
        let mut environment = secrets.environment_with(&context.variables);
        environment.extend(line.environment);
        let spawn = Spawn {
            command: line.command,
            cwd: context.cwd.clone(),
            environment,
            sandbox: context.sandbox.clone(),
        };
        let (processes, cancel) = (context.processes.clone(), context.cancel.clone());
        let started = Instant::now();
        let start = move || start(&processes, spawn, &cancel);
        let call = Call {
            running: call::blocking_cancellable(&context.cancel, start).await?,
            output: Output::new(
                &self.settings,
                context.spill_file.clone(),
                &context.redactor,
            ),
            status: Status::default(),
            details: line.details,
            hidden: self.settings.bash_hidden.clone(),
            context,
            started,
            limit: line.limit,
        };
        call.follow().await
    }
}

fn start(
    processes: &Processes,
    spawn: Spawn,
    cancel: &CancellationToken,
) -> Result<Running, ToolError> {
    if !spawn.cwd.is_dir() {
        let cwd = spawn.cwd.display();
        return Err(ToolError::new(format!(
            "The working directory is gone: {cwd}"
        )));
    }
    // The call may have been cancelled while this waited for a thread or a disk.
    processes.start(spawn, cancel).map_err(not_started)
}

fn not_started(why: impl Display) -> ToolError {
    ToolError::new(format!("Can't start the command: {why}"))
}

/// The details known before it runs.
fn described(args: Args) -> CommandDetails {
    CommandDetails {
        command: args.command,
        description: args.description.filter(|text| !text.is_empty()),
        ..CommandDetails::default()
    }
}

/// Rejects commands that the system can't run.
fn check(command: &str) -> Result<(), ToolError> {
    if command.contains('\0') {
        return Err(ToolError::new("The command contains a NUL character."));
    }
    if command.len() > MAX_COMMAND {
        return Err(ToolError::new(format!(
            "The command is {} bytes long; the limit is {MAX_COMMAND}. Write it to a file and run \
             that file.",
            command.len()
        )));
    }
    Ok(())
}

struct Call {
    running: Running,
    output: Output,
    status: Status,
    details: CommandDetails,
    /// The variables that it doesn't see.
    hidden: Vec<String>,
    context: ToolContext,
    started: Instant,
    limit: Duration,
}

impl Call {
    /// Reads and shows output until the result is ready.
    async fn follow(mut self) -> Result<ToolOutput, ToolError> {
        let mut buffer = Vec::with_capacity(CHUNK);
        let mut open = true;
        // When the result must be ready, once something sets a limit.
        let mut end: Option<Instant> = None;
        let mut last_output = self.started;
        let mut show_at: Option<Instant> = None;
        let mut shown: Option<Instant> = None;
        let out_of_time = self.started.checked_add(self.limit);
        let cancel = self.context.cancel.clone();
        let mut statuses = self.running.status();
        let cancelled = loop {
            let quiet = match (&self.status.shell, end) {
                (Some(_), Some(end)) if !self.details.timed_out => {
                    Some(end.min(last_output + QUIET_AFTER_EXIT))
                }
                (_, end) => end,
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => break true,
                () = at(out_of_time), if !self.details.timed_out && self.status.shell.is_none() => {
                    self.details.timed_out = true;
                    self.running.stop();
                    end = Some(Instant::now() + MAX_KILL_WAIT);
                }
                status = change(&mut statuses) => {
                    if status.shell.is_some() && self.status.shell.is_none() && !self.details.timed_out {
                        let now = Instant::now();
                        last_output = now;
                        end = Some(now + if status.gone { QUIET_AFTER_EXIT } else { MAX_AFTER_EXIT });
                    }
                    self.status = status;
                    if let Some(ExitStatus::NotStarted(why)) = &self.status.shell {
                        return Err(not_started(why));
                    }
                }
                () = at(show_at) => {
                    show_at = None;
                    shown = Some(Instant::now());
                    self.show();
                }
                () = at(quiet) => break false,
                read = self.running.read(&mut buffer), if open => {
                    open = matches!(read, Ok(1..));
                    self.output.push(&buffer).await;
                    buffer.clear();
                    last_output = Instant::now();
                    show_at = show_at.or(Some(shown.map_or(last_output, |shown| shown + PROGRESS)));
                }
            }
            if !open && self.status.shell.is_some() && self.status.gone {
                break false;
            }
        };
        // Output that arrived while this task wasn't scheduled.
        self.running.read_ready(&mut buffer);
        self.output.push(&buffer).await;
        Ok(self.result(cancelled).await)
    }

    fn show(&self) {
        let mut details = self.details.clone();
        self.output.show(&mut details);
        self.context.progress.set(Details::Command(details));
    }

    /// The output, then how the call ended, each on its own lines.
    async fn result(mut self, cancelled: bool) -> ToolOutput {
        let mut last_lines = Vec::new();
        let mut is_error = true;
        if cancelled {
            self.running.stop();
        } else {
            self.name_processes(&mut last_lines);
            is_error = self.say_how_it_ended(&mut last_lines);
            if is_error {
                self.note_hidden_variable(&mut last_lines);
            }
        }
        let mut details = self.details;
        let mut lines = self.output.finish(last_lines, &mut details).await;
        details.duration_ms = Some(self.started.elapsed().as_millis() as u64);
        if !details.output.is_empty() {
            lines.insert(0, details.output.clone());
        }
        let mut text = lines.join("\n");
        if text.trim().is_empty() && !cancelled {
            text = "(no output, exit code 0)".into();
        }
        // Otherwise dropping it stops the processes.
        if !cancelled && !details.timed_out {
            self.running.detach();
        }
        ToolOutput {
            content: vec![Content::text(text)],
            details: Details::Command(details),
            is_error,
        }
    }

    /// Notes processes that still run, and files that tiller moved away from them.
    fn name_processes(&mut self, last_lines: &mut Vec<String>) {
        let left = &self.status.left;
        if !left.is_empty() {
            last_lines.push(format!("[could not be stopped: {}]", left.join(", ")));
        }
        for refused in &self.status.refused {
            last_lines.push(format!("[{refused}]"));
        }
        self.details.moved.clone_from(&self.status.refused);
        if self.status.gone || self.details.timed_out {
            return;
        }
        let running = self.running.processes();
        if !running.is_empty() {
            last_lines.push(format!(
                "[still running: {}; they end with this run]",
                summary(&running)
            ));
        }
        self.details.still_running = running;
        self.details.still_running.truncate(MAX_NAMED);
    }

    /// Notes a variable that the command may have missed.
    fn note_hidden_variable(&mut self, last_lines: &mut Vec<String>) {
        let mut shown = CommandDetails::default();
        self.output.show(&mut shown);
        self.details.note = hidden_note(&self.hidden, &shown.output);
        let note = self.details.note.iter().map(|note| format!("[{note}]"));
        // The exit code stays the last line.
        let end = last_lines.len().saturating_sub(1);
        last_lines.splice(end..end, note);
    }

    /// Notes how the shell ended; returns whether that is a failure.
    fn say_how_it_ended(&mut self, last_lines: &mut Vec<String>) -> bool {
        let details = &mut self.details;
        let line = match &self.status.shell {
            _ if details.timed_out => {
                details.exit_code = Some(-1);
                format!("[timed out after {} s]", self.limit.as_secs_f64())
            }
            Some(ExitStatus::Exited(code)) => {
                details.exit_code = Some(*code);
                if *code == 0 {
                    return false;
                }
                format!("[exit code {code}]")
            }
            Some(ExitStatus::Killed(signal)) => {
                details.signal = Some(*signal);
                format!("[killed by signal {signal}]")
            }
            Some(ExitStatus::Unknown(signal)) => {
                let signal = signal.unwrap_or(9);
                details.signal = Some(signal);
                last_lines.push(
                    "[the parent process of the command was killed, so tiller stopped all its \
                     processes]"
                        .to_owned(),
                );
                format!("[killed by signal {signal}]")
            }
            // A shell that couldn't start has its error result already; one that still runs has none yet.
            Some(ExitStatus::NotStarted(_)) | None => return true,
        };
        last_lines.push(line);
        true
    }
}

/// `12 sleep, 13 node`; for more than a few, `20 x sleep, 1 x node`.
fn summary(processes: &[String]) -> String {
    const FEW: usize = 8;
    if processes.len() <= FEW {
        return processes.join(", ");
    }
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for process in processes {
        let name = process.split_once(' ').map_or("?", |(_, name)| name);
        *by_name.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = by_name.into_iter().collect();
    names.sort_by_key(|(_, count)| Reverse(*count));
    let more = names.len() > FEW;
    names.truncate(FEW);
    let names = names
        .iter()
        .map(|(name, count)| format!("{count} x {name}"));
    names
        .chain(more.then(|| "...".to_owned()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The next status; never returns once it is final.
async fn change(statuses: &mut watch::Receiver<Status>) -> Status {
    if statuses.changed().await.is_err() {
        return pending().await;
    }
    statuses.borrow_and_update().clone()
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_processes_are_counted_by_name() {
        let mut processes = vec!["7 node".to_owned()];
        processes.extend((10..30).map(|pid| format!("{pid} sleep")));
        assert_eq!(summary(&processes), "20 x sleep, 1 x node");
        assert_eq!(summary(&processes[..2]), "7 node, 10 sleep");
    }
}
