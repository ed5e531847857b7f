//! Runs the command of one hook.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::hook_file::{Hook, quoted};
use crate::process::{ExitStatus, Processes, Running, Spawn};

/// Most bytes of output that are read of each stream.
const MAX_BYTES: usize = 1 << 20;

/// How long to wait for more output after the shell has exited.
const DRAIN: Duration = Duration::from_millis(100);

/// How a hook's command ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub exit: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub ms: u64,
}

/// Runs `hook` with `input` on standard input. Kills its process tree if it takes too long or if the
/// future is dropped; processes that it leaves in the background run on.
///
/// # Errors
/// Returns why it couldn't start, or that it took too long.
pub(super) async fn run(
    processes: &Processes,
    mut spawn: Spawn,
    hook: &Hook,
    input: &str,
) -> Result<Ran, String> {
    let started = Instant::now();
    let files = Files::new(input).map_err(|error| format!("no temporary file: {error}"))?;
    // Commands have no standard input, and both outputs share one pipe.
    spawn.command = format!(
        "exec /bin/sh -c {} <{} 2>{}",
        quoted(&hook.command),
        path_word(files.input.path()),
        path_word(files.errors.path()),
    );
    let mut running = processes
        .start(spawn, &CancellationToken::new())
        .map_err(|error| format!("it couldn't start: {error}"))?;
    let mut output = Vec::new();
    let exit = timeout(hook.timeout, exit(&mut running, &mut output)).await;
    let Ok(exit) = exit else {
        return Err(format!(
            "it took longer than {} s",
            hook.timeout.as_secs_f64()
        ));
    };
    let _ = timeout(DRAIN, collect(&mut running, &mut output)).await;
    running.detach();
    let stderr = std::fs::read(files.errors.path()).unwrap_or_default();
    let stderr = &stderr[..stderr.len().min(MAX_BYTES)];
    Ok(Ran {
        exit,
        stdout: String::from_utf8_lossy(&output).into_owned(),
        stderr: String::from_utf8_lossy(stderr).trim().to_owned(),
        ms: started.elapsed().as_millis() as u64,
    })
}

/// The files of a hook's standard input and standard error. Only the user can read them.
struct Files {
    input: NamedTempFile,
    errors: NamedTempFile,
}

impl Files {
    fn new(text: &str) -> io::Result<Self> {
        let file = || tempfile::Builder::new().prefix("tiller-hook-").tempfile();
        let mut input = file()?;
        writeln!(input, "{text}")?;
        let errors = file()?;
        Ok(Self { input, errors })
    }
}

fn path_word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

async fn exit(running: &mut Running, output: &mut Vec<u8>) -> ExitStatus {
    let mut status = running.status();
    let exited = async {
        let ended = status.wait_for(|status| status.shell.is_some()).await;
        ended.ok().and_then(|status| status.shell.clone())
    };
    let collected = async {
        collect(running, output).await;
        std::future::pending::<()>().await;
    };
    let exit = tokio::select! {
        exit = exited => exit,
        () = collected => None,
    };
    exit.unwrap_or_else(|| ExitStatus::NotStarted("its supervisor has ended".to_owned()))
}

/// Reads all output, and drops what exceeds `MAX_BYTES`.
async fn collect(running: &mut Running, output: &mut Vec<u8>) {
    let mut buffer = Vec::with_capacity(4096);
    while matches!(running.read(&mut buffer).await, Ok(1..)) {
        let room = MAX_BYTES.saturating_sub(output.len());
        output.extend_from_slice(&buffer[..buffer.len().min(room)]);
        buffer.clear();
    }
}
