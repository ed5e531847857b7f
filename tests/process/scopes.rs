//! Scopes: ending one ends its own commands and nothing else, also when a supervisor is lost; and
//! what a lost supervisor has reported counts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Instant;

use tiller::agent::process::{Exit, Orphans, Processes, Running, Spawn, Status};

use super::bench::Bench;
use crate::support::census::{Census, DEADLINE, person};

fn start(processes: &Processes, command: &str) -> Running {
    let spawn = Spawn {
        command: command.to_owned(),
        cwd: std::env::temp_dir(),
        environment: std::env::vars_os().collect(),
    };
    processes.start(spawn).unwrap()
}

#[tokio::test]
async fn ending_a_scope_ends_it_and_the_scopes_within_it() {
    let bench = Bench::new();
    let agent = bench.processes.scope();
    let run = agent.scope();
    let other = bench.processes.scope();
    let censuses = [Census::new(), Census::new(), Census::new()];
    let mut running = Vec::new();
    for (scope, census) in [&agent, &run, &other].into_iter().zip(&censuses) {
        running.push(start(scope, &census.script("trap '' TERM; SLEEP")));
        census.wait_for(1).await;
    }
    let alive = || [&bench.processes, &agent, &run, &other].map(Processes::alive);
    assert_eq!(alive(), [3, 2, 1, 1]);

    run.kill_all();
    run.empty().await;
    censuses[1].assert_none().await;
    assert_eq!(alive(), [2, 1, 0, 1]);

    running.push(start(&run, &censuses[1].script("SLEEP")));
    agent.kill_all();
    agent.empty().await;
    censuses[0].assert_none().await;
    censuses[1].assert_none().await;
    assert_eq!(alive(), [1, 0, 0, 1]);
    assert_eq!(censuses[2].living().len(), 1);

    bench.processes.kill_all();
    bench.empty().await;
    censuses[2].assert_none().await;
}

// A process that leaves orphans to init has no way to tell them from its other children.
#[tokio::test]
async fn a_lost_supervisor_costs_no_other_child_its_life() {
    let bench = Bench::new();
    let call = bench.start("until [ -e go ]; do sleep 0.01; done; kill -9 $PPID");
    let supervisor_is_there = async {
        while bench.processes.alive() == 0 {
            tokio::task::yield_now().await;
        }
    };
    supervisor_is_there.await;
    // In a session of its own, like a supervisor and like a program in a pseudo-terminal.
    let mut child = std::process::Command::new("setsid")
        .args(["sleep", "60"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(bench.folder.path().join("go"), "").unwrap();
    let outcome = call.end().await;
    assert!(
        outcome.text.ends_with("[killed by signal 9]"),
        "{}",
        outcome.text
    );
    bench.empty().await;
    let state = person(child.id() as i32).map(|person| person.state);
    let _ = child.kill();
    child.wait().unwrap();
    assert!(matches!(state, Some('S' | 'R' | 'D')), "{state:?}");
}

// It reads no request and no order, so nothing can be sent to it.
#[tokio::test]
async fn reports_that_have_arrived_count_when_nothing_can_be_sent_any_more() {
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
    };
    let running = processes.start(spawn).unwrap();
    // The test's only thread is held, so that nothing was sent yet.
    let deadline = Instant::now() + DEADLINE;
    while !ended.exists() {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    running.stop();
    processes.empty().await;
    let expected = Status {
        shell: Some(Exit::Exited(3)),
        gone: true,
        left: Vec::new(),
    };
    assert_eq!(*running.status().borrow(), expected);
}
