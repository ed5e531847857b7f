//! Ending a scope ends its own commands and no others, even if its supervisor is lost. A lost
//! supervisor's reports still apply.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Instant;

use tiller::agent::process::{ExitStatus, Orphans, Processes, Running, Spawn, Status};
use tokio_util::sync::CancellationToken;

use super::bash_tool::BashTool;
use crate::support::marked::{DEADLINE, MarkedProcesses, process_info};

fn spawn(command: &str) -> Spawn {
    Spawn {
        command: command.to_owned(),
        cwd: std::env::temp_dir(),
        environment: std::env::vars_os().collect(),
        sandbox: None,
    }
}

fn start(processes: &Processes, command: &str) -> Running {
    let cancel = CancellationToken::new();
    processes.start(spawn(command), &cancel).unwrap()
}

// Otherwise a command could start after its run has ended.
#[tokio::test]
async fn a_command_that_was_cancelled_does_not_start() {
    let bash = BashTool::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(bash.processes.start(spawn("exit"), &cancel).is_err());
    assert_eq!(bash.processes.alive(), 0);
}

#[tokio::test]
async fn ending_a_scope_ends_its_inner_scopes() {
    let bash = BashTool::new();
    let agent = bash.processes.scope();
    let run = agent.scope();
    let other = bash.processes.scope();
    let groups = [
        MarkedProcesses::new(),
        MarkedProcesses::new(),
        MarkedProcesses::new(),
    ];
    let mut running = Vec::new();
    for (scope, marked) in [&agent, &run, &other].into_iter().zip(&groups) {
        running.push(start(scope, &marked.script("trap '' TERM; SLEEP")));
        marked.wait_for(1).await;
    }
    let alive = || [&bash.processes, &agent, &run, &other].map(Processes::alive);
    assert_eq!(alive(), [3, 2, 1, 1]);

    run.kill_all();
    run.empty().await;
    groups[1].assert_none().await;
    assert_eq!(alive(), [2, 1, 0, 1]);

    running.push(start(&run, &groups[1].script("SLEEP")));
    agent.kill_all();
    agent.empty().await;
    groups[0].assert_none().await;
    groups[1].assert_none().await;
    assert_eq!(alive(), [1, 0, 0, 1]);
    assert_eq!(groups[2].living().len(), 1);

    bash.processes.kill_all();
    bash.empty().await;
    groups[2].assert_none().await;
}

// If a process leaves its orphans to init, nothing tells them from its other children.
#[tokio::test]
async fn a_lost_supervisor_takes_no_other_child_with_it() {
    let bash = BashTool::new();
    let call = bash.start("until [ -e go ]; do sleep 0.01; done; kill -9 $PPID");
    let supervisor_is_there = async {
        while bash.processes.alive() == 0 {
            tokio::task::yield_now().await;
        }
    };
    supervisor_is_there.await;
    // In its own session, like a supervisor or a program in a pseudo-terminal.
    let mut child = std::process::Command::new("setsid")
        .args(["sleep", "60"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(bash.folder.path().join("go"), "").unwrap();
    let outcome = call.end().await;
    assert!(
        outcome.text.ends_with("[killed by signal 9]"),
        "{}",
        outcome.text
    );
    bash.empty().await;
    let state = process_info(child.id() as i32).map(|process| process.state);
    let _ = child.kill();
    child.wait().unwrap();
    assert!(matches!(state, Some('S' | 'R' | 'D')), "{state:?}");
}

// The supervisor reads neither requests nor orders, so nothing can be sent to it.
#[tokio::test]
async fn reports_apply_even_if_nothing_can_be_sent_to_the_supervisor() {
    let folder = tempfile::tempdir().unwrap();
    let (program, ended) = (
        folder.path().join("supervisor"),
        folder.path().join("ended"),
    );
    let reports = r#"printf '{"Shell":{"Exited":3}}\n"Done"\n' >&0; exec 0>&-; : >ended"#;
    fs::write(&program, format!("#!/bin/sh\n{reports}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let processes = Processes::with_supervisor(program, Orphans::Leave);
    let spawn = Spawn {
        command: "exit 3".to_owned(),
        cwd: folder.path().to_owned(),
        environment: std::env::vars_os().collect(),
        sandbox: None,
    };
    let running = processes.start(spawn, &CancellationToken::new()).unwrap();
    // The test blocks its only thread, so nothing has been sent yet.
    let deadline = Instant::now() + DEADLINE;
    while !ended.exists() {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    running.stop();
    processes.empty().await;
    let expected = Status {
        shell: Some(ExitStatus::Exited(3)),
        gone: true,
        refused: Vec::new(),
        left: Vec::new(),
    };
    assert_eq!(*running.status().borrow(), expected);
}
