//! Runs the commands of `models.toml` that print keys, below a supervisor like every command: they
//! have no terminal to ask on, and nothing of them outlives tiller.
//!
//! They are the user's own words, so they see the user's whole environment. They start in the
//! folder of `models.toml`: what lies in a project must not decide what they do.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tempfile::NamedTempFile;

use crate::agent::process::{Captured, Exit, Processes, Spawn, run_captured};
use crate::llm::Secret;
use crate::llm::auth::KeyCommands;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Bytes of output that are read; no key is longer.
const MAX_BYTES: usize = 64 * 1024;
/// Characters of what it said on stderr that an error quotes.
const QUOTED_CHARS: usize = 300;

/// Runs them with a shell.
pub struct ShellCommands {
    processes: Processes,
    cwd: PathBuf,
    environment: Vec<(OsString, OsString)>,
    limit: Duration,
}

impl ShellCommands {
    /// Commands that start in `cwd` with the variables of `env`.
    pub fn new(processes: &Processes, cwd: PathBuf, env: &HashMap<String, String>) -> Self {
        Self {
            processes: processes.clone(),
            cwd,
            environment: env
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            limit: LIMIT,
        }
    }
}

impl KeyCommands for ShellCommands {
    fn run(&self, command: &str) -> BoxFuture<'static, Result<Secret, String>> {
        let (processes, limit) = (self.processes.clone(), self.limit);
        let spawn = |errors: &NamedTempFile| Spawn {
            // One pipe carries both outputs, and only one of them is the key.
            command: format!(
                "exec 2>{}\n{command}\n",
                quoted(&errors.path().display().to_string())
            ),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
        };
        let started = tempfile::Builder::new()
            .prefix("tiller-key-")
            .tempfile()
            .map(|errors| (spawn(&errors), errors));
        async move {
            let (spawn, errors) = started.map_err(|error| format!("no temporary file: {error}"))?;
            let ran = run_captured(&processes, spawn, limit, MAX_BYTES)
                .await
                .map_err(|error| format!("it could not be started: {error}"))?;
            let said = || std::fs::read(errors.path()).unwrap_or_default();
            key(ran, limit, said)
        }
        .boxed()
    }
}

/// The first line that holds something, of a command that succeeded.
fn key(ran: Captured, limit: Duration, said: impl Fn() -> Vec<u8>) -> Result<Secret, String> {
    let ended = match &ran.exit {
        Some(Exit::Exited(0)) => None,
        Some(Exit::Exited(code)) => Some(format!("exit code {code}")),
        Some(Exit::Killed(signal)) => Some(format!("killed by signal {signal}")),
        Some(Exit::NotStarted(why)) => Some(why.clone()),
        Some(Exit::Unseen(_)) => Some("it was killed".to_owned()),
        None => Some(format!("it took longer than {} s", limit.as_secs_f32())),
    };
    let text = String::from_utf8_lossy(&ran.output);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    match (ended, line) {
        (None, Some(line)) => Ok(Secret::new(line)),
        (ended, _) => {
            let why = ended.unwrap_or_else(|| "it printed nothing".to_owned());
            let said = String::from_utf8_lossy(&said()).trim().to_owned();
            let said: String = said.chars().take(QUOTED_CHARS).collect();
            Err(if said.is_empty() {
                why
            } else {
                format!("{why}: {said}")
            })
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
