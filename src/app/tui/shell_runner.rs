//! Runs the user's own commands, one at a time, and asks the clipboard for a picture.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::msg::{EffectResult, ShellEnd};
use crate::agent::process::{Captured, ExitStatus, Processes, Spawn, run_captured};
use crate::agent::tool::CommandDetails;
use crate::app::keys::KnownSecrets;
use crate::app::sanitize;

/// A command that takes longer is ended: what is to run on belongs into another terminal.
const LIMIT: Duration = Duration::from_mins(10);
/// Bytes of output that are kept.
const MAX_BYTES: usize = 50 * 1024;
/// How long a program of the clipboard may take.
const CLIPBOARD: Duration = Duration::from_secs(2);
/// Programs that write the picture in the clipboard to their output.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("wl-paste", &["--no-newline", "--type", "image/png"]),
    (
        "xclip",
        &["-selection", "clipboard", "-t", "image/png", "-o"],
    ),
    ("pngpaste", &["-"]),
];

pub(super) struct ShellRunner {
    pub processes: Processes,
    pub cwd: PathBuf,
    pub secrets: KnownSecrets,
    pub results: UnboundedSender<EffectResult>,
    pub running: Option<(String, AbortHandle)>,
}

impl ShellRunner {
    /// Runs a command without a sandbox: it is the user's own.
    pub(super) fn run(&mut self, id: String, command: String) {
        let (processes, results) = (self.processes.clone(), self.results.clone());
        let (secrets, name) = (self.secrets.clone(), id.clone());
        let spawn = Spawn {
            command: command.clone(),
            cwd: self.cwd.clone(),
            environment: std::env::vars_os().collect(),
            sandbox: None,
        };
        let task = tokio::spawn(async move {
            let begun = Instant::now();
            let ran = run_captured(&processes, spawn, LIMIT, MAX_BYTES).await;
            let (details, failure) = match ran {
                Ok(ran) => ended(command, &ran, begun.elapsed(), &secrets),
                Err(error) => {
                    let details = CommandDetails {
                        command,
                        ..CommandDetails::default()
                    };
                    (details, Some(format!("it could not be started: {error}")))
                }
            };
            let _ = results.send(EffectResult::Shell(ShellEnd {
                id,
                details,
                failure,
            }));
        });
        self.running = Some((name, task.abort_handle()));
    }

    /// Ends what runs.
    pub(super) fn stop(&mut self) {
        if let Some((_, task)) = self.running.take() {
            task.abort();
        }
    }

    /// Keeps the picture in the clipboard as a file and answers its path.
    pub(super) fn picture(&self) {
        let results = self.results.clone();
        tokio::spawn(async move {
            let _ = results.send(EffectResult::Picture(picture().await));
        });
    }
}

fn ended(
    command: String,
    ran: &Captured,
    took: Duration,
    secrets: &KnownSecrets,
) -> (CommandDetails, Option<String>) {
    let output = String::from_utf8_lossy(&ran.output);
    let output = sanitize::for_terminal(&output);
    let output = secrets.redactor().redact(&output).into_owned();
    let mut details = CommandDetails {
        command,
        total_lines: output.lines().count() as u64,
        total_bytes: ran.output.len() as u64,
        truncated: ran.output.len() >= MAX_BYTES,
        duration_ms: Some(took.as_millis() as u64),
        output,
        ..CommandDetails::default()
    };
    let failure = match &ran.exit {
        Some(ExitStatus::Exited(code)) => {
            details.exit_code = Some(*code);
            (*code != 0).then(|| format!("exit {code}"))
        }
        Some(ExitStatus::Killed(signal)) => {
            details.signal = Some(*signal);
            Some(format!("killed by signal {signal}"))
        }
        Some(ExitStatus::NotStarted(why)) => Some(why.clone()),
        Some(ExitStatus::Unknown(_)) => Some("it was killed".to_owned()),
        None => {
            details.timed_out = true;
            Some(format!("it took longer than {} s", LIMIT.as_secs()))
        }
    };
    (details, failure)
}

async fn picture() -> Result<PathBuf, String> {
    for (program, args) in PROGRAMS {
        let child = tokio::process::Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(Ok(output)) = timeout(CLIPBOARD, child).await else {
            continue;
        };
        if !output.status.success() || !output.stdout.starts_with(b"\x89PNG") {
            continue;
        }
        let file = tempfile::Builder::new()
            .prefix("tiller-picture-")
            .suffix(".png")
            .disable_cleanup(true)
            .tempfile();
        let written = file.and_then(|file| {
            std::fs::write(file.path(), &output.stdout)?;
            Ok(file.path().to_owned())
        });
        return written.map_err(|error| format!("The picture cannot be kept: {error}"));
    }
    Err("No picture in the clipboard that wl-paste, xclip or pngpaste could give".to_owned())
}
