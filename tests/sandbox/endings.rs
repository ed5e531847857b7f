//! Nothing survives in a sandbox either: the ways out of a process tree, each in a sandbox, ended by
//! an abort, by the end of tiller's interest, or by the death of the supervisor.

use std::sync::Arc;

use tiller::agent::process::Spawn;
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
async fn what_tries_to_survive_is_ended() {
    stop_in_a_sandbox(|name| !takes_long(name)).await;
}

#[tokio::test]
async fn what_stops_the_supervisor_is_ended() {
    stop_in_a_sandbox(|name| name.contains("stops")).await;
}

#[tokio::test]
async fn what_ignores_term_is_ended() {
    stop_in_a_sandbox(|name| takes_long(name) && !name.contains("stops")).await;
}
