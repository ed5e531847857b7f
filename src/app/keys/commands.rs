//! Runs the commands of `models.toml` that print keys, below a supervisor like every command: they
//! have no terminal to ask on, and nothing of them outlives tiller.
//!
//! They are the user's own words, so they see the user's whole environment. They start in the
//! folder of `models.toml`: what lies in a project must not decide what they do.

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

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Bytes of output that are read; no key is longer.
const MAX_BYTES: usize = 64 * 1024;
/// Characters of its stderr that an error quotes.
const QUOTED_CHARS: usize = 300;

/// Runs commands with a shell, which starts in `cwd` with the variables of `env`.
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

/// The first line that holds something, of a command that succeeded.
async fn run(processes: Processes, mut spawn: Spawn) -> Result<Secret, String> {
    let errors = tempfile::Builder::new()
        .prefix("tiller-key-")
        .tempfile()
        .map_err(|error| format!("can't create a temporary file: {error}"))?;
    // One pipe carries both outputs, and only one of them is the key.
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
