//! Stopping in every phase: the prompt returns, every call has one result, no process is left, and
//! the next prompt works.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::e2e_job::{leave, open};
use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::Screen;

/// A command whose children ignore SIGTERM; one of them runs in its own session. The command line
/// doesn't contain its output, because the screen shows both.
const STUBBORN: &str = "trap '' TERM; bash -c \"trap '' TERM; sleep 1000; true\" & \
                        setsid bash -c \"trap '' TERM; echo up-$((40 + 2)); sleep 1000\" & wait";

/// A run that reaches a certain phase and stays there.
struct Phase {
    name: &'static str,
    replies: fn() -> Vec<Reply>,
    /// Waits until the run reaches the phase.
    reached: fn(&ModelServer, &Screen),
}

const PHASES: [Phase; 4] = [
    Phase {
        name: "headers",
        replies: || vec![Reply::text("late").hold_headers("never")],
        reached: |server, _| {
            server.wait_gate("never");
        },
    },
    Phase {
        name: "streaming",
        replies: || vec![Reply::text("some of it").gate("never")],
        reached: |_, screen| screen.wait_for("some of it"),
    },
    Phase {
        name: "a stubborn command",
        replies: || {
            vec![
                Reply::text("I run.")
                    .and_call("bash", json!({"command": STUBBORN}))
                    .and_call("bash", json!({"command": "touch never-run"})),
            ]
        },
        reached: |_, screen| screen.wait_for("up-42"),
    },
    Phase {
        name: "parallel searches",
        replies: || {
            vec![
                Reply::text("I search.")
                    .and_call("grep", json!({"pattern": "(x+y)+z", "path": "big"}))
                    .and_call("grep", json!({"pattern": "(x+z)+y", "path": "big"}))
                    .and_call("read", json!({"file_path": "README.md"})),
            ]
        },
        reached: |_, screen| screen.wait_for("(x+z)+y"),
    },
];

/// Esc and Ctrl+C stop a run in every phase.
#[test]
fn every_phase_can_be_stopped() {
    for (at, phase) in PHASES.iter().enumerate() {
        for (wire, key) in [
            (Wire::ALL[at % 4], "<esc>"),
            (Wire::ALL[(at + 1) % 4], "<c-c>"),
        ] {
            stop(phase, wire, key);
        }
    }
}

fn stop(phase: &Phase, wire: Wire, key: &str) {
    let shown = format!("{} by {key} over {wire:?}", phase.name);
    let (server, sandbox) = job::stage_with((phase.replies)());
    if phase.name == "parallel searches" {
        let line = "x".repeat(2_000) + "\n";
        sandbox.write("big/file.txt", &line.repeat(20_000));
    }
    let screen = open(&sandbox, wire);
    screen.keys("go<enter>");
    (phase.reached)(&server, &screen);
    screen.keys("my draft");
    screen.wait_for("my draft");
    let pressed = Instant::now();
    screen.keys(key);
    screen.wait_gone("Esc stops");
    let back = pressed.elapsed();
    assert!(back < Duration::from_secs(1), "{shown}: {back:?}");

    // The next prompt works at once, even while processes are still dying.
    server.push(Reply::text("Still here."));
    screen.wait_for("my draft");
    screen.keys(" and more<enter>");
    screen.wait_for("Still here.");
    let next = server.requests().pop().unwrap();
    assert!(
        next.last_user().contains("my draft and more"),
        "{shown}: {next:#?}"
    );
    if phase.name == "a stubborn command" {
        let results = next.results();
        assert!(
            results[0].starts_with("Execution cancelled"),
            "{shown}: {results:?}"
        );
        assert!(
            results[0].contains("up-42"),
            "the output so far: {results:?}"
        );
        assert_eq!(results[1], "Execution cancelled before start", "{shown}");
        // The screen says so too.
        screen.wait_until("why the calls ended", |view| {
            let lines = view.lines();
            let ends = |word| lines.iter().any(|line| line.trim_end().ends_with(word));
            ends("  stopped") && ends("  not run")
        });
        assert!(!sandbox.path().join("never-run").exists());
    }
    sandbox.wait_no_processes(&[screen.pid()]);
    let gone = pressed.elapsed();
    assert!(gone < Duration::from_secs(5), "{shown}: {gone:?}");
    check_session(&sandbox, &shown);
    leave(&screen);
}

/// Every call in the session has exactly one result, right after its message.
fn check_session(sandbox: &Sandbox, shown: &str) {
    let mut open: Vec<String> = Vec::new();
    for message in sandbox.session_messages() {
        match message["role"].as_str().unwrap() {
            "toolResult" => {
                let id = message["toolCallId"].as_str().unwrap();
                let at = open.iter().position(|call| call == id);
                let at = at.unwrap_or_else(|| panic!("{shown}: a result too many for {id}"));
                open.remove(at);
            }
            _ => {
                assert!(open.is_empty(), "{shown}: no result for {open:?}");
                let blocks = message["content"].as_array().unwrap();
                let calls = blocks.iter().filter(|block| block["type"] == "toolCall");
                open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
            }
        }
    }
    assert!(open.is_empty(), "{shown}: no result for {open:?}");
}

/// The editor gets steering messages, follow-ups and the draft, in this order.
#[test]
fn an_abort_returns_the_queue_to_the_editor() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("some of it").gate("never")]);
    let screen = open(&sandbox, Wire::Anthropic);
    screen.keys("go<enter>");
    screen.wait_for("some of it");
    screen.keys("then this<a-enter>");
    screen.wait_for("then this");
    screen.keys("steer that<enter>");
    screen.wait_until("both queued", |view| {
        view.contains("steer that") && view.contains("then this")
    });
    screen.keys("draft");
    screen.wait_for("draft");
    screen.keys("<esc>");
    screen.wait_gone("Esc stops");
    server.push(Reply::text("Thank you."));
    screen.keys("<enter>");
    screen.wait_for("Thank you.");
    let user = server.request(1).last_user();
    let at = |text: &str| {
        user.find(text)
            .unwrap_or_else(|| panic!("{text:?} is lost: {user}"))
    };
    assert!(
        at("steer that") < at("then this") && at("then this") < at("draft"),
        "{user}"
    );
    leave(&screen);
}

/// `kill -9` of tiller leaves no child process.
#[test]
fn killing_tiller_kills_its_children() {
    let (_server, sandbox) =
        job::stage_with(vec![Reply::call("bash", json!({"command": STUBBORN}))]);
    let screen = open(&sandbox, Wire::Chat);
    screen.keys("go<enter>");
    screen.wait_for("up-42");
    screen.signal(Signal::SIGKILL);
    let took = sandbox.wait_no_processes(&[]);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// Every other catchable signal restores the terminal too.
#[test]
fn rare_signals_restore_the_terminal() {
    for signal in [
        Signal::SIGABRT,
        Signal::SIGIO,
        Signal::SIGPWR,
        Signal::SIGSTKFLT,
    ] {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("Hello.")]);
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("go<enter>");
        screen.wait_for("Hello.");
        screen.signal(signal);
        assert_eq!(screen.wait_exit().code, 128 + signal as u32, "{signal}");
        assert_eq!(screen.leftovers(), Vec::<String>::new(), "{signal}");
        assert!(!screen.is_alternate(), "{signal}");
    }
}

/// SIGTERM restores the terminal and exits with its code, even during a run.
#[test]
fn signals_restore_the_terminal() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let (_server, sandbox) =
            job::stage_with(vec![Reply::call("bash", json!({"command": STUBBORN}))]);
        let screen = open(&sandbox, Wire::Anthropic);
        screen.keys("go<enter>");
        screen.wait_for("up-42");
        let sent = Instant::now();
        screen.signal(signal);
        assert_eq!(screen.wait_exit().code, code, "{signal}");
        // On a quiet machine this takes 200 ms.
        assert!(
            sent.elapsed() < Duration::from_secs(2),
            "{:?}",
            sent.elapsed()
        );
        assert_eq!(screen.leftovers(), Vec::<String>::new(), "{signal}");
        assert!(!screen.is_alternate());
        sandbox.wait_no_processes(&[]);
        let log = sandbox.log();
        let steps = [
            "cancelled after",
            "shutdown: no run is under way",
            "shutdown: commands were told to end",
            "shutdown: the session is on disk",
            "shutdown: closed",
        ];
        let places = steps.map(|step| log.find(step).unwrap_or_else(|| panic!("{step}: {log}")));
        assert!(places.is_sorted(), "{log}");
    }
}
