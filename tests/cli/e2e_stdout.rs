//! Failing to write to stdout is an error with a message. A closed pipe is no error, but a run that
//! it cut isn't successful. A stalled reader blocks neither signals nor the timeout.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Reply, Wire};

/// Far more than a stopped program needs, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// The exit code. Kills the program and fails if it doesn't exit.
#[track_caller]
fn code(mut child: Child) -> Option<i32> {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > end {
            let _ = child.kill();
            panic!("the program doesn't exit");
        }
        std::thread::yield_now();
    }
}

/// Every command that writes to stdout.
fn commands() -> Vec<Vec<&'static str>> {
    let model = Wire::Anthropic.model();
    vec![
        vec!["-p", "-m", model, job::PROMPT],
        vec!["--mode", "json", "-m", model, job::PROMPT],
        vec!["models"],
        vec!["models", "--json"],
        vec!["config", "show"],
        vec!["config", "path"],
        vec!["sessions"],
        vec!["sessions", "--json"],
        vec!["status"],
        vec!["auth", "list"],
        vec!["--help"],
        vec!["--version"],
        vec!["models", "--help"],
    ]
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let (server, sandbox) = job::stage();
    // How far a run gets before it notices differs. The script has only one reply.
    server.expect_refusals();
    for arguments in commands() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = sandbox
            .tiller(&arguments)
            .stdout(full)
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("can't write to stdout"),
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn a_closed_pipe_is_quiet_and_ends_the_run() {
    let (server, sandbox) = job::stage();
    // How far a run gets before it notices differs. The script has only one reply.
    server.expect_refusals();
    for arguments in commands() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox
            .tiller(&arguments)
            .stdout(Stdio::from(writer))
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = if arguments.contains(&job::PROMPT) {
            141
        } else {
            0
        };
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("stdout"), "{arguments:?}: {stderr}");
    }
}

/// As in `tiller --mode json go | head -1`.
#[test]
fn a_run_whose_reader_leaves_early_is_not_successful() {
    let more = || Reply::call("bash", json!({"command": "echo x >> made"}));
    let (server, sandbox) = job::stage_with(vec![more().gate("left"), more(), Reply::text("ok")]);
    let model = Wire::Anthropic.model();
    let mut child = sandbox
        .tiller(&["--mode", "json", "-m", model, "go"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"session\""));
    drop(lines);
    server.release("left");
    assert_eq!(code(child), Some(141));
    assert!(
        server.requests().len() < 3,
        "the run should have stopped early"
    );
}

#[test]
fn a_stalled_reader_blocks_neither_signals_nor_the_timeout() {
    let ends = [
        (None, 124),
        (Some(Signal::SIGTERM), 143),
        (Some(Signal::SIGINT), 130),
        (Some(Signal::SIGHUP), 129),
    ];
    for mode in [&["-p"][..], &["--mode", "json"]] {
        for (signal, expected) in ends {
            let reply = Reply::text("x".repeat(300_000));
            let (_server, sandbox) = job::stage_with(vec![reply]);
            let mut arguments = mode.to_vec();
            arguments.extend(["-m", Wire::Anthropic.model(), "go"]);
            if signal.is_none() {
                arguments.extend(["--timeout", "3"]);
            }
            // stderr goes there too, as with `2>&1`.
            let (reader, writer) = std::io::pipe().unwrap();
            let mut command = sandbox.tiller(&arguments);
            command.stdout(Stdio::from(writer.try_clone().unwrap()));
            let child = command.stderr(Stdio::from(writer)).spawn().unwrap();
            drop(command);
            let end = Instant::now() + DEADLINE;
            while rustix::io::ioctl_fionread(&reader).unwrap() < 60_000 {
                assert!(Instant::now() < end, "{arguments:?}: the pipe is not full");
                std::thread::yield_now();
            }
            if let Some(signal) = signal {
                kill(Pid::from_raw(child.id() as i32), signal).unwrap();
            }
            assert_eq!(code(child), Some(expected), "{arguments:?} {signal:?}");
        }
    }
}
