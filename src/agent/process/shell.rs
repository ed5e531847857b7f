//! Starts the shell of a command.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::unistd::Pid;

#[cfg(target_os = "macos")]
use super::sandbox;
use super::sandbox::Sandbox;
use super::wire::Request;

pub(super) fn start(request: &Request) -> io::Result<Pid> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for shell in ["bash", "/bin/bash", "/usr/bin/bash", "sh"] {
        let mut command = program(shell, request.sandbox.as_ref());
        command
            .arg("-c")
            .arg(OsStr::from_bytes(&request.command))
            .stdin(Stdio::null())
            // A separate process group, so that `kill 0` in a script doesn't reach us.
            .process_group(0);
        if let Some(sandbox) = &request.sandbox {
            for (name, value) in sandbox.environment() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
        }
        match command.spawn() {
            Ok(child) => return Ok(Pid::from_raw(child.id() as i32)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        last.kind(),
        "neither bash nor sh is in PATH",
    ))
}

#[cfg(not(target_os = "macos"))]
fn program(shell: &str, _: Option<&Sandbox>) -> Command {
    Command::new(shell)
}

#[cfg(target_os = "macos")]
fn program(shell: &str, sandbox: Option<&Sandbox>) -> Command {
    let Some(sandbox) = sandbox else {
        return Command::new(shell);
    };
    let mut command = Command::new(sandbox::PROGRAM);
    command.arg("-p").arg(sandbox::profile(sandbox)).arg(shell);
    command
}
