//! The tool itself: runs a command, shows its output while it comes, and decides when there is a
//! result and what it says.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::OnceLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::output::{Finished, Output};
use crate::agent::process::{Exit, Running, Secrets, Spawn, Status, environment};
use crate::agent::tool::{CommandDetails, Details, Effects, ToolContext, ToolError, ToolOutput};
use crate::agent::tools::ToolSettings;
use crate::agent::tools::call;
use crate::agent::tools::typed::{self, TypedTool};
use crate::llm::{Content, ToolSpec};

/// Live output goes to the screen at most this often.
const PROGRESS: Duration = Duration::from_millis(50);
/// Once the shell has exited, the result comes after this time without output.
const QUIET_AFTER_EXIT: Duration = Duration::from_millis(100);
/// Once the shell has exited, the result comes at the latest after this time.
const MAX_AFTER_EXIT: Duration = Duration::from_secs(1);
/// How long the result of a timeout waits for the processes to end.
const MAX_KILL_WAIT: Duration = Duration::from_secs(4);
/// Processes named in the details, which are stored with the session.
const MAX_NAMED: usize = 50;
/// Longest command in bytes: Linux takes 128 KiB in one argument.
const MAX_COMMAND: usize = 120 * 1024;
/// Bytes read at once: as much as a pipe holds.
const CHUNK: usize = 64 * 1024;

/// The bash tool.
#[derive(Debug)]
pub struct Bash {
    settings: ToolSettings,
    /// Made with the first command.
    secrets: OnceLock<Secrets>,
}

impl Bash {
    /// The tool, with the limits of `settings`.
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

/// The arguments of a call.
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
                "Run a command with bash -c in the working directory and return its output, stdout \
                 and stderr together. Each call is a new shell: cd and variables do not carry over. \
                 Stdin is empty and there is no terminal, so pass flags that avoid questions. The \
                 last line says so when the exit code is not 0. Long output is cut in the middle and \
                 kept whole in a file. The command and everything it started is stopped after \
                 {usual} seconds unless timeout says otherwise; what it leaves running in the \
                 background ends with the run. Prefer read, grep, find and ls for looking at files."
            ),
            &["command"],
            json!({
                "command": {
                    "type": "string",
                    "description": "The command line; may have several lines."
                },
                "timeout": {
                    "type": "number",
                    "minimum": 1,
                    "description": format!("Seconds it may take. Default {usual}, at most {most}.")
                },
                "description": {
                    "type": "string",
                    "description": "What it is for, in five to ten words."
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
        check(&details.command)?;
        let cwd = context.cwd.clone();
        call::blocking_cancellable(&context.cancel, move || {
            if cwd.is_dir() {
                return Ok(());
            }
            let cwd = cwd.display();
            Err(ToolError::new(format!(
                "The working directory is gone: {cwd}"
            )))
        })
        .await?;
        let secrets = self
            .secrets
            .get_or_init(|| Secrets::new(&self.settings.bash_secret_env));
        let started = Instant::now();
        let running = context
            .processes
            .start(Spawn {
                command: details.command.clone(),
                cwd: context.cwd.clone(),
                environment: environment(std::env::vars_os(), secrets),
            })
            .map_err(|error| ToolError::new(format!("Could not start the command: {error}")))?;
        let call = Call {
            running,
            output: Output::new(&self.settings, context.spill_file.clone()),
            status: Status::default(),
            details,
            context,
            started,
            limit,
            timed_out: false,
        };
        call.follow().await
    }
}

/// What is known before it runs.
fn described(args: Args) -> CommandDetails {
    CommandDetails {
        command: args.command,
        description: args.description.filter(|text| !text.is_empty()),
        ..CommandDetails::default()
    }
}

/// Refuses what the system cannot run.
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

/// A running call.
struct Call {
    running: Running,
    output: Output,
    status: Status,
    details: CommandDetails,
    context: ToolContext,
    started: Instant,
    limit: Duration,
    timed_out: bool,
}

impl Call {
    /// Reads and shows until there is a result.
    async fn follow(mut self) -> Result<ToolOutput, ToolError> {
        let mut buffer = Vec::with_capacity(CHUNK);
        let mut open = true;
        // When the result comes at the latest, once there is reason to set an end.
        let mut end: Option<Instant> = None;
        let mut last_output = self.started;
        let mut show_at: Option<Instant> = None;
        let mut shown: Option<Instant> = None;
        let out_of_time = self.started.checked_add(self.limit);
        let cancel = self.context.cancel.clone();
        let mut statuses = self.running.status();
        let cancelled = loop {
            let quiet = match (&self.status.shell, end) {
                (Some(_), Some(end)) if !self.timed_out => {
                    Some(end.min(last_output + QUIET_AFTER_EXIT))
                }
                (_, end) => end,
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => break true,
                () = at(out_of_time), if !self.timed_out && self.status.shell.is_none() => {
                    self.timed_out = true;
                    self.running.stop();
                    end = Some(Instant::now() + MAX_KILL_WAIT);
                }
                status = change(&mut statuses) => {
                    if status.shell.is_some() && self.status.shell.is_none() && !self.timed_out {
                        let now = Instant::now();
                        last_output = now;
                        end = Some(now + if status.gone { QUIET_AFTER_EXIT } else { MAX_AFTER_EXIT });
                    }
                    self.status = status;
                    if let Some(Exit::NotStarted(why)) = &self.status.shell {
                        return Err(ToolError::new(format!("Could not start the command: {why}")));
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
                    self.output.push(&buffer);
                    buffer.clear();
                    last_output = Instant::now();
                    show_at = show_at.or(Some(shown.map_or(last_output, |shown| shown + PROGRESS)));
                }
            }
            if !open && self.status.shell.is_some() && self.status.gone {
                break false;
            }
        };
        // What arrived while this task did not get to run.
        self.running.read_ready(&mut buffer);
        self.output.push(&buffer);
        Ok(if cancelled {
            self.cancelled()
        } else {
            self.ended()
        })
    }

    fn show(&self) {
        let live = self.output.tail();
        self.context.progress.set(Details::Command(CommandDetails {
            output: live.text,
            total_lines: live.lines,
            total_bytes: live.bytes,
            truncated: live.truncated,
            ..self.details.clone()
        }));
    }

    /// The output of a call that the user stopped. Dropping `running` ends the processes.
    fn cancelled(mut self) -> ToolOutput {
        let finished = self.output.finish(Vec::new());
        self.details.duration_ms = Some(millis(self.started));
        result(self.details, &finished, None, true)
    }

    fn ended(mut self) -> ToolOutput {
        let mut last_lines = Vec::new();
        if !self.status.left.is_empty() {
            last_lines.push(format!(
                "[could not be ended: {}]",
                self.status.left.join(", ")
            ));
        }
        if !self.status.gone && !self.timed_out {
            self.details.still_running = self.running.processes();
        }
        if !self.details.still_running.is_empty() {
            last_lines.push(format!(
                "[still running: {}; they end with this run]",
                summary(&self.details.still_running)
            ));
            self.details.still_running.truncate(MAX_NAMED);
        }
        let failed = self.say_how_it_ended(&mut last_lines);
        let finished = self.output.finish(last_lines);
        self.details.duration_ms = Some(millis(self.started));
        let silent = finished.text.trim().is_empty() && finished.notes.is_empty();
        let empty = silent.then_some("(no output, exit code 0)");
        if self.timed_out {
            drop(self.running);
        } else {
            self.running.detach();
        }
        result(self.details, &finished, empty, failed)
    }

    /// Notes how the shell ended, and whether that is a failure.
    fn say_how_it_ended(&mut self, last_lines: &mut Vec<String>) -> bool {
        if self.timed_out {
            self.details.exit_code = Some(-1);
            self.details.timed_out = true;
            last_lines.push(format!("[timed out after {} s]", self.limit.as_secs_f64()));
            return true;
        }
        match self.status.shell {
            Some(Exit::Exited(code)) => {
                self.details.exit_code = Some(code);
                if code != 0 {
                    last_lines.push(format!("[exit code {code}]"));
                }
                code != 0
            }
            Some(Exit::Killed(signal)) => {
                self.details.signal = Some(signal);
                last_lines.push(format!("[killed by signal {signal}]"));
                true
            }
            Some(Exit::Unseen(signal)) => {
                let signal = signal.unwrap_or(9);
                self.details.signal = Some(signal);
                last_lines.push(
                    "[the parent process of the command was killed, so all its processes were ended]"
                        .to_owned(),
                );
                last_lines.push(format!("[killed by signal {signal}]"));
                true
            }
            // Answered before; and without an end there is no result.
            Some(Exit::NotStarted(_)) | None => true,
        }
    }
}

/// `first`, the output, the notes: each on lines of its own.
fn result(
    details: CommandDetails,
    finished: &Finished,
    first: Option<&str>,
    is_error: bool,
) -> ToolOutput {
    let mut parts: Vec<&str> = first.into_iter().collect();
    if !finished.text.is_empty() {
        parts.push(&finished.text);
    }
    parts.extend(finished.notes.iter().map(String::as_str));
    ToolOutput {
        content: vec![Content::text(parts.join("\n"))],
        details: Details::Command(CommandDetails {
            output: finished.text.clone(),
            total_lines: finished.lines,
            total_bytes: finished.bytes,
            truncated: finished.truncated,
            full_output_path: finished
                .path
                .as_ref()
                .map(|path| path.display().to_string()),
            ..details
        }),
        is_error,
    }
}

/// `12 sleep, 13 sleep` for a few; `2 x sleep, ...` by name for many.
fn summary(processes: &[String]) -> String {
    if processes.len() <= 8 {
        return processes.join(", ");
    }
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for process in processes {
        let name = process.split_once(' ').map_or("?", |(_, name)| name);
        *by_name.entry(name).or_default() += 1;
    }
    let mut names: Vec<String> = by_name
        .iter()
        .take(8)
        .map(|(name, count)| format!("{count} x {name}"))
        .collect();
    if by_name.len() > 8 {
        names.push("...".to_owned());
    }
    names.join(", ")
}

/// The next status; never returns once it is final.
async fn change(statuses: &mut watch::Receiver<Status>) -> Status {
    if statuses.changed().await.is_err() {
        return pending().await;
    }
    statuses.borrow_and_update().clone()
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}
