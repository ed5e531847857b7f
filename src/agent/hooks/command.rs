//! Runs the command of one hook.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::hook::Hook;
use super::hook_file::quoted;
use crate::new_id::new_id;
use crate::process::{ExitStatus, Processes, Running, Spawn};
use crate::session::make_private;

/// Most bytes of output that are read.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Most bytes of standard error that are read.
const MAX_ERRORS: usize = 1 << 16;

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

/// Runs `hook` with `input` on standard input, from a file in `folder`. Kills its process tree if it takes too
/// long or if the future is dropped; processes that it leaves in the background run on.
///
/// # Errors
/// Returns why it couldn't start, or that it took too long.
pub(super) async fn run(
    processes: &Processes,
    mut spawn: Spawn,
    (hook, command): (&Hook, &str),
    (folder, input): (&Path, &str),
) -> Result<Ran, String> {
    let started = Instant::now();
    let file =
        input_file(folder, input).map_err(|error| format!("no file for its input: {error}"))?;
    let mark = new_id().to_string();
    // Commands have no standard input, and both outputs share one pipe. The file for errors loses its name
    // first, so that nothing is left of it if the hook is killed.
    spawn.command = format!(
        "e=$(mktemp) || exit 126; exec 3>\"$e\" 4<\"$e\"; rm -f \"$e\"; \
         /bin/sh -c {} <{} 2>&3 3>&- 4<&-; c=$?; printf '\\n%s\\n' {mark}; head -c {MAX_ERRORS} <&4; exit $c",
        quoted(command),
        path_word(file.path()),
    );
    let mut running = processes
        .start(spawn, &CancellationToken::new())
        .map_err(|error| format!("it couldn't start: {error}"))?;
    let mut output = Vec::new();
    let exit = timeout(hook.timeout, exit(&mut running, &mut output)).await;
    let Ok(exit) = exit else {
        return Err(too_slow(hook.timeout));
    };
    let _ = timeout(DRAIN, collect(&mut running, &mut output)).await;
    running.detach();
    let output = String::from_utf8_lossy(&output);
    let parts = output.rsplit_once(&format!("\n{mark}\n"));
    let (stdout, stderr) = parts.unwrap_or((&output, ""));
    Ok(Ran {
        exit,
        stdout: stdout.to_owned(),
        stderr: stderr.trim().to_owned(),
        ms: started.elapsed().as_millis() as u64,
    })
}

/// The fault of a hook that exceeds its time.
pub(super) fn too_slow(limit: Duration) -> String {
    format!("it took longer than {} s", limit.as_secs_f64())
}

/// The file with a hook's input. Only the user can read it, and commands in the sandbox.
fn input_file(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    make_private(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix("hook-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
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
