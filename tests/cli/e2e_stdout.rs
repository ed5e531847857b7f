//! A stdout that cannot be written is an error that is told; a closed pipe is not.

use std::fs::File;
use std::process::Stdio;

use crate::support::job;
use crate::support::model_server::Wire;

/// Everything that writes to stdout, with its arguments.
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
fn a_full_disk_behind_stdout_is_told() {
    let (_server, sandbox) = job::stage();
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
            stderr.contains("cannot write to stdout"),
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let (_server, sandbox) = job::stage();
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
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("stdout"), "{arguments:?}: {stderr}");
    }
}
