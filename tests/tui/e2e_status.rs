//! What `tiller status` and `tiller sessions` show other programs: while a session waits, works or
//! pauses, and after every kind of end.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::{Launch, Screen};

/// The longest time a state may take to show.
const DEADLINE: Duration = Duration::from_secs(20);

fn status(sandbox: &Sandbox) -> Vec<Value> {
    let ran = sandbox.run(&["status", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

pub fn wait_state(sandbox: &Sandbox, state: &str) -> Value {
    let started = Instant::now();
    loop {
        let open = status(sandbox);
        if open.len() == 1 && open[0]["state"] == state {
            return open[0].clone();
        }
        assert!(started.elapsed() < DEADLINE, "not {state}: {open:?}");
    }
}

fn stored_state(sandbox: &Sandbox) -> (String, String) {
    let ran = sandbox.run(&["sessions", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    let text = |key: &str| list[0][key].as_str().unwrap().to_owned();
    (text("state"), text("title"))
}

fn gated() -> Vec<Reply> {
    let wait = json!({"command": "until [ -e go ]; do sleep 0.02; done"});
    vec![
        Reply::text("Wait.").and_call("bash", wait.clone()),
        Reply::text("Done."),
        Reply::text("Again.").and_call("bash", wait),
    ]
}

fn begin(sandbox: &Sandbox, screen: &Screen, prompt: &str) {
    screen.keys(prompt);
    screen.keys("<enter>");
    screen.wait_for("● bash  until [ -e go ]");
    assert_eq!(
        wait_state(sandbox, "processing")["model"],
        Wire::ALL[0].model()
    );
}

// Idle, processing, idle, processing, idle after an abort, closed.
#[test]
fn other_programs_see_each_state() {
    let (_server, sandbox) = job::stage_with(gated());
    let screen = open(&sandbox, Wire::ALL[0]);
    let record = wait_state(&sandbox, "idle");
    assert_eq!(record["pid"], screen.pid());
    assert_eq!(record["cwd"], sandbox.path().to_str().unwrap());

    begin(&sandbox, &screen, "first");
    assert_eq!(
        stored_state(&sandbox),
        ("processing".into(), "first".into())
    );
    sandbox.write("go", "");
    screen.wait_for("Done.");
    wait_state(&sandbox, "idle");

    std::fs::remove_file(sandbox.path().join("go")).unwrap();
    begin(&sandbox, &screen, "second");
    screen.keys("<c-c>");
    screen.wait_gone("Esc stops");
    let record = wait_state(&sandbox, "idle");
    let id = record["id"].as_str().unwrap();
    let ran = sandbox.run(&["status", id]);
    assert!(ran.stdout.starts_with("idle "), "{ran:#?}");

    leave(&screen);
    assert_eq!(status(&sandbox), Vec::<Value>::new());
    assert_eq!(stored_state(&sandbox), ("closed".into(), "first".into()));
    let ran = sandbox.run(&["status", id]);
    assert!(ran.stdout.starts_with("closed "), "{ran:#?}");
    assert!(ran.stdout.contains("first"), "{ran:#?}");
    let ran = sandbox.run(&["status"]);
    assert_eq!(ran.stdout, "No running sessions\n");
}

// After a kill nothing is open.
#[test]
fn a_killed_process_leaves_a_closed_session() {
    let (_server, sandbox) = job::stage_with(gated());
    let screen = open(&sandbox, Wire::ALL[0]);
    begin(&sandbox, &screen, "first");
    screen.signal(Signal::SIGKILL);
    screen.wait_dead();
    assert_eq!(status(&sandbox), Vec::<Value>::new());
    assert_eq!(stored_state(&sandbox), ("closed".into(), "first".into()));
}

// At the iteration limit the run waits for the user.
#[test]
fn a_run_at_its_limit_awaits_input() {
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("One.").and_call("ls", json!({})),
        Reply::text("Two."),
    ]);
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::ALL[0].model(), "--max-iterations", "1"])
        .start();
    screen.wait_for("─ runs everything");
    screen.keys("go<enter>");
    screen.wait_for("Max iterations (1) exceeded");
    wait_state(&sandbox, "awaiting_input");
    screen.keys("and then<enter>");
    screen.wait_for("Two.");
    wait_state(&sandbox, "idle");
    leave(&screen);
}

#[test]
fn missing_sessions_are_reported() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["sessions"]);
    assert!(ran.stdout.starts_with("No sessions in "), "{ran:#?}");
    let ran = sandbox.run(&["sessions", "--all"]);
    assert_eq!(ran.stdout, "No sessions yet\n");
    let ran = sandbox.run(&["status", "nope"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("no session 'nope'"), "{ran:#?}");
    assert!(ran.stderr.contains("tiller sessions --all"), "{ran:#?}");
}

// `--no-session` stores nothing, so other programs see nothing.
#[test]
fn an_unstored_session_is_invisible() {
    let (_server, sandbox) = job::stage_with(gated());
    let screen = Launch::new(&sandbox)
        .args(&["-m", Wire::ALL[0].model(), "--no-session"])
        .start();
    screen.wait_for("─ runs everything");
    screen.keys("go<enter>");
    screen.wait_for("● bash  until [ -e go ]");
    assert_eq!(status(&sandbox), Vec::<Value>::new());
    sandbox.write("go", "");
    screen.wait_for("Done.");
    leave(&screen);
}
