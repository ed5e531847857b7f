//! Runs the commands in `models.toml` that print keys. A supervisor runs them like any command:
//! they have no terminal, and no process of theirs outlives tiller.
//! The user wrote them, so they see the user's whole environment. They start in the folder of
//! `models.toml`, so that files in a project can't influence them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use crate::agent::process::{ExitStatus, Processes, Spawn, run_captured};
use crate::app::humanize::shell_word;
use crate::llm::Secret;
use crate::llm::auth::RunCommand;

/// Time limit for a command.
const LIMIT: Duration = Duration::from_secs(10);
/// Most bytes of output to read; no key is longer.
const MAX_BYTES: usize = 64 * 1024;
/// Most characters of stderr to quote in an error.
const QUOTED_CHARS: usize = 300;

/// Returns a function that runs commands in a shell, in `cwd`, with the variables in `env`.
pub fn run_in_shell(
    processes: &Processes,
    cwd: PathBuf,
    env: &HashMap<String, String>,
) -> RunCommand {
    let processes = processes.clone();
    let environment: Vec<(OsString, OsString)> = env
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    Arc::new(move |command| {
        let spawn = Spawn {
            command: command.to_owned(),
            cwd: cwd.clone(),
            environment: environment.clone(),
            sandbox: None,
        };
        run(processes.clone(), spawn).boxed()
    })
}

/// Runs a command and returns its first non-blank line if it succeeds.
async fn run(processes: Processes, mut spawn: Spawn) -> Result<Secret, String> {
    let errors = tempfile::Builder::new()
        .prefix("tiller-key-")
        .tempfile()
        .map_err(|error| format!("can't create a temporary file: {error}"))?;
    // Both outputs share one pipe, and only stdout is the key.
    let file = shell_word(errors.path());
    spawn.command = format!("exec 2>{file}\n{}\n", spawn.command);
    let ran = run_captured(&processes, spawn, LIMIT, MAX_BYTES)
        .await
        .map_err(|error| format!("it couldn't start: {error}"))?;
    let failure = match ran.exit {
        Some(ExitStatus::Exited(0)) => None,
        Some(ExitStatus::Exited(code)) => Some(format!("exit code {code}")),
        Some(ExitStatus::Killed(signal)) => Some(format!("killed by signal {signal}")),
        Some(ExitStatus::NotStarted(why)) => Some(why),
        Some(ExitStatus::Unknown(_)) => Some("it was killed".to_owned()),
        None => Some(format!("it took longer than {} s", LIMIT.as_secs())),
    };
    let text = String::from_utf8_lossy(&ran.output);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let why = match (failure, line) {
        (None, Some(line)) => return Ok(Secret::new(line)),
        (None, None) => "it printed nothing".to_owned(),
        (Some(failure), _) => failure,
    };
    let stderr = std::fs::read(errors.path()).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr);
    let quote: String = stderr.trim().chars().take(QUOTED_CHARS).collect();
    Err(if quote.is_empty() {
        why
    } else {
        format!("{why}: {quote}")
    })
}
