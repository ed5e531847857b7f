//! No process survives in a sandbox either. The tests try each way out of a process tree and end it
//! by an abort, by dropping the call, or by the supervisor's death.

use std::sync::Arc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tiller::agent::process::sandbox::{Layer, Sandbox};
use tiller::agent::process::{ExitStatus, Spawn};
use tokio_util::sync::CancellationToken;

use super::place::{Place, machine_has_all_layers};
use crate::process::survivors::ESCAPES;
use crate::support::marked::{DEADLINE, MarkedProcesses};

async fn stop_in_a_sandbox(names: impl Fn(&str) -> bool) {
    if !machine_has_all_layers() {
        return;
    }
    let place = Place::new();
    for escape in ESCAPES.iter().filter(|escape| names(escape.name)) {
        let marked = MarkedProcesses::new();
        let spawn = Spawn {
            command: marked.script(escape.script),
            cwd: place.path("ws"),
            environment: std::env::vars_os().collect(),
            sandbox: Some(Arc::new(place.auto())),
        };
        let running = place
            .processes
            .start(spawn, &CancellationToken::new())
            .unwrap();
        marked.wait_for(escape.alive).await;
        running.stop();
        let empty = tokio::time::timeout(DEADLINE, place.processes.empty()).await;
        assert!(empty.is_ok(), "{}", escape.name);
        marked.assert_none().await;
    }
}

fn takes_long(name: &str) -> bool {
    name.contains("ignore") || name.contains("restarts") || name.contains("stops")
}

#[tokio::test]
async fn processes_that_try_to_survive_are_ended() {
    stop_in_a_sandbox(|name| !takes_long(name)).await;
}

#[tokio::test]
async fn processes_that_stop_the_supervisor_are_ended() {
    stop_in_a_sandbox(|name| name.contains("stops")).await;
}

#[tokio::test]
async fn processes_that_ignore_term_are_ended() {
    stop_in_a_sandbox(|name| takes_long(name) && !name.contains("stops")).await;
}

/// The supervisor of this test's only command, by its pid outside the sandbox.
fn supervisor_of(command: Pid) -> Pid {
    let parent = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let after_name = stat.rsplit(')').next().unwrap();
        let parent = after_name.split_whitespace().nth(1).unwrap();
        Pid::from_raw(parent.parse().unwrap())
    };
    let mut above = std::iter::successors(Some(command), |pid| Some(parent(*pid)));
    let own = Pid::this();
    above.find(|pid| parent(*pid) == own).unwrap()
}

// The kernel ends the processes, because nothing of tiller is left to do it.
#[tokio::test]
async fn killing_the_supervisor_kills_all_processes_even_without_landlock() {
    let place = Place::new();
    let marked = MarkedProcesses::new();
    let spawn = Spawn {
        command: marked.script("trap '' TERM; setsid SLEEP & (setsid SLEEP &) ; SLEEP"),
        cwd: place.path("ws"),
        environment: std::env::vars_os().collect(),
        sandbox: Some(Arc::new(Sandbox {
            without: [Layer::Landlock].into(),
            ..place.auto()
        })),
    };
    let cancel = CancellationToken::new();
    let running = place.processes.start(spawn, &cancel).unwrap();
    marked.wait_for(3).await;
    let named = running.processes();
    assert!(named.iter().all(|it| !it.ends_with(" tiller")), "{named:?}");
    let shell = named[0].split(' ').next().unwrap().parse().unwrap();
    kill(supervisor_of(Pid::from_raw(shell)), Signal::SIGKILL).unwrap();
    marked.wait_for_none().await;
    place.processes.empty().await;
    assert!(matches!(
        running.status().borrow().shell,
        Some(ExitStatus::Unknown(_))
    ));
}
