//! SIGKILL for tiller or the supervisor. A test needs a process that it may kill and that adopts
//! orphans, so it starts this test program again in place of tiller.

use std::fmt::Write;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tiller::agent::process::sandbox::Sandbox;

use super::bash_tool::BashTool;
use super::survivors::ESCAPES;
use crate::sandbox::place::machine_has_all_layers;
use crate::support::marked::{DEADLINE, MarkedProcesses, zombies_of};

const SCRIPT: &str = "TILLER_TEST_HOST_SCRIPT";
/// If the command runs in a sandbox: the folder it may write to.
const SANDBOX: &str = "TILLER_TEST_HOST_SANDBOX";
const TIMEOUT: &str = "TILLER_TEST_HOST_TIMEOUT";

/// Plays tiller: runs one command and prints its result. The tests below start it with the script
/// in its environment. Without a script it does nothing.
#[tokio::test]
#[ignore = "started by other tests"]
async fn host() {
    let Ok(script) = std::env::var(SCRIPT) else {
        return;
    };
    let mut bash = BashTool::adopting();
    bash.sandbox = std::env::var_os(SANDBOX).map(|folder| {
        Arc::new(Sandbox {
            writable: vec![folder.into()],
            ..Sandbox::default()
        })
    });
    let timeout = std::env::var(TIMEOUT).map_or(600, |text| text.parse().unwrap());
    let call = bash.start_with(json!({ "command": script, "timeout": timeout }));
    let outcome = call.end().await;
    bash.processes.stop_all();
    bash.empty().await;
    for line in outcome.text.lines() {
        println!("result: {line}");
    }
    // tiller reaps the supervisor only after the last of the supervisor's processes.
    let began = Instant::now();
    let zombies = loop {
        let count = zombies_of(std::process::id() as i32).len();
        if count == 0 || began.elapsed() > DEADLINE {
            break count;
        }
        tokio::time::sleep(Duration::from_millis(5)).await; // poll
    };
    println!("zombies: {zombies}");
}

/// Leaves many zombies behind. The test below starts it as a command.
#[test]
#[ignore = "started by another test"]
#[allow(clippy::zombie_processes, reason = "the zombies are the point")]
fn mother_of_zombies() {
    if std::env::var_os(SCRIPT).is_none() {
        return;
    }
    for _ in 0..2_500 {
        Command::new("true").spawn().unwrap();
    }
}

// The supervisor inherits more zombies at once than it can reap in one pass.
#[tokio::test]
async fn thousands_of_zombies_are_reaped() {
    let bash = BashTool::new();
    let program = std::env::current_exe().unwrap();
    let outcome = bash
        .run(&format!(
            "{SCRIPT}=1 {} --exact process::killed::mother_of_zombies --ignored >/dev/null; echo done",
            program.display()
        ))
        .await;
    assert_eq!(outcome.text, "done");
    bash.empty().await;
}

fn host_of(script: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "process::killed::host",
            "--ignored",
            "--nocapture",
        ])
        .env(SCRIPT, script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The lines that a host prints until it exits.
fn listen(mut child: Child) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.starts_with("result: ") || line.starts_with("zombies: "))
        .collect();
    assert!(child.wait().unwrap().success());
    lines
}

/// Prints a host's output, for when its test fails.
#[allow(clippy::print_stdout)] // The test harness captures it and prints it with the failure.
fn show(output: impl Read + Send + 'static) {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.for_each(|line| println!("host: {line}")));
}

/// `kill -9` of tiller. Its control channel closes, and the supervisor does the rest.
async fn kill_tiller(name: &str) {
    kill_tiller_of(name, false).await;
}

/// A host whose command runs in a sandbox if `confined`.
fn host_in(script: &str, confined: bool) -> Command {
    let mut host = host_of(script);
    if confined {
        host.env(SANDBOX, env!("CARGO_TARGET_TMPDIR"));
    }
    host
}

async fn kill_tiller_of(name: &str, confined: bool) {
    let escape = ESCAPES.iter().find(|escape| escape.name == name).unwrap();
    let marked = MarkedProcesses::new();
    // The host itself must not carry the mark, so the shell assembles it.
    let mut host = host_in(&disguised(&marked, escape.script), confined)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    show(host.stdout.take().unwrap());
    show(host.stderr.take().unwrap());
    marked.wait_for(escape.alive).await;
    host.kill().unwrap();
    host.wait().unwrap();
    marked.wait_for_none().await;
}

/// The script with the mark hidden, because the host's own environment contains the script.
fn disguised(marked: &MarkedProcesses, script: &str) -> String {
    let mut hidden = String::new();
    for byte in marked.script(script).bytes() {
        write!(hidden, "\\{byte:03o}").unwrap();
    }
    format!("exec bash -c \"$(printf '{hidden}')\"")
}

#[tokio::test]
async fn killing_tiller_leaves_no_process() {
    for name in [
        "plain",
        "closed pipes, env -i",
        "200 children",
        "double fork",
    ] {
        kill_tiller(name).await;
    }
}

#[tokio::test]
async fn killing_tiller_leaves_no_process_in_a_sandbox() {
    if !machine_has_all_layers() {
        return;
    }
    // These end the shell itself, and the host with it.
    let left_out = ["shell kills itself", "kills its group"];
    let scenarios = ESCAPES.iter().map(|escape| escape.name);
    for name in scenarios.filter(|name| !left_out.contains(name)) {
        println!("{name}");
        kill_tiller_of(name, true).await;
    }
}

#[tokio::test]
async fn killing_tiller_leaves_no_process_that_ignores_term() {
    kill_tiller("ignores TERM").await;
}

// A stopped supervisor can't see that tiller is gone. tiller's death wakes it.
#[tokio::test]
async fn killing_tiller_leaves_no_stopped_supervisor() {
    kill_tiller("stops the supervisor").await;
}

// tiller's death wakes the supervisor, but it would be stopped again within the grace period.
#[tokio::test]
async fn killing_tiller_leaves_no_supervisor_that_is_stopped_again_and_again() {
    kill_tiller("stops the supervisor whenever it is woken").await;
}

async fn kill_supervisor(script: &str) {
    let marked = MarkedProcesses::new();
    let host = host_of(&disguised(&marked, script)).spawn().unwrap();
    let lines = tokio::task::spawn_blocking(move || listen(host))
        .await
        .unwrap();
    assert_eq!(
        lines,
        [
            "result: before",
            "result: [the parent process of the command was killed, so tiller stopped all its \
             processes]",
            "result: [killed by signal 9]",
            "zombies: 0"
        ]
    );
    marked.assert_none().await;
}

#[tokio::test]
async fn killing_the_supervisor_leaves_no_process() {
    for script in [
        "echo before; kill -9 $PPID; SLEEP",
        "echo before; setsid SLEEP & env -i setsid SLEEP >&- 2>&- & SLEEP & kill -9 $PPID; SLEEP",
        "echo before; for i in {1..200}; do SLEEP & done; kill -9 $PPID; wait",
        "echo before; c() { setsid bash -c c & }; export -f c; c; c; c; kill -9 $PPID; SLEEP",
    ] {
        kill_supervisor(script).await;
    }
}

// The supervisor gets no orders, so tiller kills it and then ends what it leaves.
#[tokio::test]
async fn stopping_the_supervisor_again_and_again_leaves_no_process() {
    let marked = MarkedProcesses::new();
    let script = "echo before; SLEEP & while :; do kill -STOP $PPID; done 2>/dev/null";
    let mut host = host_of(&disguised(&marked, script));
    let host = host.env(TIMEOUT, "1").spawn().unwrap();
    let lines = tokio::task::spawn_blocking(move || listen(host))
        .await
        .unwrap();
    let expected = ["before", "[timed out after 1 s]"].map(|line| format!("result: {line}"));
    assert_eq!(lines[..2], expected);
    assert_eq!(lines[2..], ["zombies: 0"]);
    marked.assert_none().await;
}

#[tokio::test]
async fn killing_the_supervisor_leaves_no_process_that_ignores_term() {
    kill_supervisor("trap '' TERM; echo before; setsid SLEEP & kill -9 $PPID; SLEEP").await;
}
