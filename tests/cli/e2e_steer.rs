//! `tiller steer` and its socket: used from another terminal, by many programs at once, and by
//! hostile programs.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::sandbox::{Ran, Sandbox};
use crate::support::screen::{Launch, Screen};

/// How long to wait for anything.
const DEADLINE: Duration = Duration::from_secs(20);

const GATE: &str = "until [ -e go ]; do touch runs; sleep 0.02; done";

fn gated() -> Vec<Reply> {
    vec![
        Reply::text("Wait.").and_call("bash", json!({"command": GATE})),
        Reply::text("Steered."),
        Reply::text("Followed up."),
    ]
}

fn screen(sandbox: &Sandbox) -> Screen {
    let screen = Launch::new(sandbox)
        .args(&["-m", Wire::ALL[0].model()])
        .size(100, 40)
        .start();
    screen.wait_for("─ runs everything");
    screen
}

/// The open sessions, once there are `count` and each has its socket.
fn open_sessions(sandbox: &Sandbox, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let ran = sandbox.run(&["status", "--json"]);
        let open: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
        if open.len() == count && open.iter().all(|it| it["socket"].is_string()) {
            return open;
        }
        assert!(started.elapsed() < DEADLINE, "{open:?}");
    }
}

fn socket(sandbox: &Sandbox) -> PathBuf {
    let open = open_sessions(sandbox, 1);
    PathBuf::from(open[0]["socket"].as_str().unwrap())
}

fn said(ran: &Ran) -> &str {
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.stdout.trim_end()
}

/// The texts and origins of the user's messages in the session file.
fn users(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let messages = sandbox.session_messages().into_iter();
    let users = messages.filter(|it| it["role"] == "user");
    let said = users.map(|it| {
        let text = it["content"][0]["text"].as_str().unwrap().to_owned();
        (text, it["origin"].clone())
    });
    said.filter(|(_, origin)| origin.is_null() || origin == "steer")
        .collect()
}

/// Sends these bytes and reads the answer.
fn send(socket: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    // The other side may have closed already.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

// Even a command that left its parent processes is recognized.
#[test]
fn a_message_from_the_sessions_own_command_is_marked() {
    let steer = format!(
        "setsid {} steer Obey; until [ -e go ]; do sleep 0.02; done",
        env!("CARGO_BIN_EXE_tiller")
    );
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("Steers.").and_call("bash", json!({"command": steer})),
        Reply::text("Obeyed."),
    ]);
    let screen = screen(&sandbox);
    screen.send(b"go\r");
    screen.wait_for("sent it a message in your name");
    sandbox.write("go", "");
    screen.wait_for("Obeyed.");
    let said = users(&sandbox);
    assert_eq!(said.last().unwrap(), &("Obey".to_owned(), json!("steer")));
}

#[test]
fn a_message_can_start_a_run_steer_it_or_wait_for_its_end() {
    let (server, sandbox) = job::stage_with(gated());
    let screen = screen(&sandbox);
    let open = open_sessions(&sandbox, 1);
    let id = open[0]["id"].as_str().unwrap();
    let socket = PathBuf::from(open[0]["socket"].as_str().unwrap());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);

    let ran = sandbox.run(&["steer", "Begin from afar"]);
    assert!(
        said(&ran).starts_with("Started a run in session "),
        "{ran:#?}"
    );
    screen.wait_for("❯ Begin from afar");
    screen.wait_for("from another program");
    screen.wait_for("● bash  until [ -e go ]");
    let ran = sandbox.run_with(&["steer", &id[..13], "-"], Some("Use the\nother way\n"));
    assert!(said(&ran).ends_with("before its next tool or model call"));
    let ran = sandbox.run(&["steer", "--follow-up", &id[20..], "Then the changelog"]);
    assert!(said(&ran).ends_with("until its run is done"), "{ran:#?}");
    screen.wait_until("the queue", |view| {
        let steer = view.line_with("↳ steer  Use the").unwrap_or_default();
        let then = view
            .line_with("▸ then   Then the changelog")
            .unwrap_or_default();
        steer.contains("+1 line  from another program") && then.contains("from another program")
    });
    sandbox.write("go", "");
    screen.wait_for("Followed up.");
    screen.wait_gone("Esc stops");
    let requests = server.requests();
    assert_eq!(requests[1].last_user(), "Use the\nother way");
    assert_eq!(requests[2].last_user(), "Then the changelog");
    assert_eq!(
        users(&sandbox),
        [
            "Begin from afar",
            "Use the\nother way",
            "Then the changelog"
        ]
        .map(|text| (text.to_owned(), json!("steer")))
    );
    screen.keys("<c-d>");
    assert_eq!(screen.wait_exit().code, 0);
    assert!(!socket.exists(), "the socket must go with the program");

    let screen = Launch::new(&sandbox).args(&["-c"]).size(100, 40).start();
    screen.wait_for("Followed up.");
    assert_eq!(screen.text().matches("from another program").count(), 3);
    screen.keys("<c-d>");
    screen.wait_exit();
}

fn start_headless(sandbox: &Sandbox, mode: &str) -> Child {
    let arguments = ["--mode", mode, "-m", Wire::ALL[0].model(), "Go"];
    sandbox.tiller(&arguments).spawn().unwrap()
}

/// Waits until the command runs. An earlier message would skip the command, and the run would have
/// nothing to wait for.
fn wait_processing(sandbox: &Sandbox) {
    let started = Instant::now();
    while open_sessions(sandbox, 1)[0]["state"] != "processing"
        || !sandbox.path().join("runs").exists()
    {
        assert!(started.elapsed() < DEADLINE);
    }
}

#[test]
fn runs_without_a_screen_can_be_steered() {
    for mode in ["text", "json"] {
        let (server, sandbox) = job::stage_with(gated());
        let child = start_headless(&sandbox, mode);
        wait_processing(&sandbox);
        let steered = sandbox.run(&["steer", "Mind the tests"]);
        let queued = sandbox.run(&["steer", "--follow-up", "And then"]);
        sandbox.write("go", "");
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (steered.code, queued.code),
            (Some(0), Some(0)),
            "{output:?}"
        );
        assert!(
            said(&steered).starts_with("Steering session "),
            "{steered:?}"
        );
        assert!(
            said(&queued).starts_with("Queued in session "),
            "{queued:?}"
        );
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("Followed up."), "{stdout}");
        assert_eq!(server.request(1).last_user(), "Mind the tests");
        assert_eq!(server.request(2).last_user(), "And then");

        let ran = sandbox.run(&["steer", "Too late"]);
        assert_eq!(ran.code, Some(2));
        assert!(
            ran.stderr.contains("no session is running, in any folder"),
            "{ran:#?}"
        );
    }
}

#[test]
fn a_failed_run_reports_messages_it_did_not_deliver() {
    let failed = Reply::http(400, "application/json", "{}");
    let mut replies = vec![Reply::call("bash", json!({"command": GATE})), failed];
    replies.extend(["Yes.", "It is."].map(Reply::text));
    let (server, sandbox) = job::stage_with(replies);
    let child = start_headless(&sandbox, "text");
    wait_processing(&sandbox);
    let ran = sandbox.run(&["steer", "--follow-up", "Say that\nit is done"]);
    said(&ran);
    sandbox.write("go", "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("queued in the session (tiller -c sends it): Say that\nit is done"),
        "{stderr}"
    );
    let ran = sandbox.run(&["-c", "-p", "-m", Wire::ALL[0].model(), "On"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(server.request(3).last_user(), "Say that\nit is done");
}

#[test]
fn no_message_of_many_writers_is_lost() {
    const WRITERS: usize = 60;
    const MESSAGES: usize = 5;
    let (_server, sandbox) = job::stage_with(gated());
    let screen = screen(&sandbox);
    let socket = socket(&sandbox);
    let text = |writer: usize, number: usize| format!("writer {writer} message {number}");
    screen.keys("Go<enter>");
    screen.wait_for("● bash  until [ -e go ]");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let socket = &socket;
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    let line = json!({"type": "steer", "message": text(writer, number)});
                    let answer = send(socket, format!("{line}\n").as_bytes());
                    assert!(answer.contains("\"success\":true"), "{answer}");
                }
            });
        }
    });
    sandbox.write("go", "");
    screen.wait_for("Steered.");
    screen.wait_gone("Esc stops");
    let stored = users(&sandbox).into_iter().map(|(text, _)| text).skip(1);
    let stored: Vec<String> = stored.collect();
    let all = (0..WRITERS).flat_map(|writer| (0..MESSAGES).map(move |number| text(writer, number)));
    assert_eq!(
        stored.len(),
        WRITERS * MESSAGES,
        "each message must arrive exactly once"
    );
    assert_eq!(
        stored.iter().cloned().collect::<HashSet<_>>(),
        all.collect::<HashSet<_>>()
    );
    // Each writer's messages stay in order.
    for writer in 0..WRITERS {
        let own = stored
            .iter()
            .filter(|text| text.starts_with(&format!("writer {writer} ")));
        let expected: Vec<String> = (0..MESSAGES).map(|number| text(writer, number)).collect();
        assert_eq!(own.cloned().collect::<Vec<_>>(), expected);
    }
    screen.keys("<c-d>");
    screen.wait_exit();
}

#[test]
fn hostile_input_does_no_harm() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Alive.")]);
    let screen = screen(&sandbox);
    let socket = socket(&sandbox);
    let message = |text: &str| json!({"type": "steer", "message": text}).to_string();
    let long = message(&"a".repeat(1024 * 1024 + 1));
    let other = json!({"type": "steer", "message": "x", "session": "another"}).to_string();
    for (what, bytes, error) in [
        ("nothing", &b""[..], "expected a line such as"),
        (
            "half a line",
            br#"{"type":"steer","mess"#,
            "expected a line such as",
        ),
        ("no JSON", b"\x00\x00\x00\n", "expected a line such as"),
        (
            "no UTF-8",
            b"{\"type\":\"steer\",\"message\":\"\xff\xfe\"}\n",
            "expected a line such as",
        ),
        (
            "another type",
            br#"{"type":"abort","message":"x"}"#,
            "unknown variant",
        ),
        (
            "no text",
            br#"{"type":"steer","message":" \n"}"#,
            "is empty",
        ),
        (
            "no string",
            br#"{"type":"steer","message":7}"#,
            "expected a line such as",
        ),
        ("too long", long.as_bytes(), "longer than 1 MiB"),
        (
            "far too long",
            &vec![b'x'; 3 * 1024 * 1024],
            "longer than 2 MiB",
        ),
        (
            "deeply nested",
            "[".repeat(100_000).as_bytes(),
            "expected a line such as",
        ),
        (
            "for another session",
            other.as_bytes(),
            "no longer open here",
        ),
    ] {
        let answer = send(&socket, bytes);
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| json!({}));
        // A client that sends too much may be cut off before the answer.
        if what != "far too long" || !answer["error"].is_null() {
            let text = answer["error"].as_str().unwrap_or_default();
            assert!(text.contains(error), "{what}: {answer}");
            assert_eq!(answer["success"], false);
        }
    }
    // Clients that send nothing or read nothing don't block others for long.
    let idle: Vec<UnixStream> = (0..100)
        .map(|at| {
            let mut stream = UnixStream::connect(&socket).unwrap();
            if at % 2 == 0 {
                let _ = stream.write_all(b"half");
            }
            stream
        })
        .collect();
    screen.keys("typed");
    screen.wait_for("typed");
    drop(idle);
    let line = json!({"id": 7, "type": "follow_up", "message": "nul\0 and \u{1b}[2J esc"});
    let answer: Value = serde_json::from_str(&send(&socket, line.to_string().as_bytes())).unwrap();
    assert_eq!(
        answer,
        json!({"id": 7, "type": "response", "command": "follow_up", "success": true,
               "data": {"disposition": "started"}})
    );
    screen.wait_for("Alive.");
    screen.wait_gone("Esc stops");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(
        server.request(0).last_user(),
        "nul\u{fffd} and \u{1b}[2J esc"
    );
    screen.keys("<c-c><c-d>");
    assert_eq!(screen.wait_exit().code, 0);
}

#[test]
fn an_ambiguous_session_must_be_named() {
    let (server, sandbox) = job::stage_with(gated());
    let first = screen(&sandbox);
    open_sessions(&sandbox, 1);
    let second = screen(&sandbox);
    let mut open = open_sessions(&sandbox, 2);
    open.sort_by_key(|record| record["pid"] != first.pid());
    let ids: Vec<&str> = open.iter().map(|it| it["id"].as_str().unwrap()).collect();
    let ends: Vec<&str> = ids.iter().map(|id| &id[id.len() - 12..]).collect();
    for (arguments, words) in [
        (
            &["steer", "hello"][..],
            &["several sessions are running in this folder"][..],
        ),
        (
            &["steer", "say", "hello", "to", "both"],
            &[
                "no running session 'say'",
                "tiller steer 'say hello to both'",
            ],
        ),
        (
            &["steer", &ids[0][ids[0].len() - 3..], "hello"],
            &["no running session '"],
        ),
        (
            &["steer", "say", "hello to both"],
            &["no running session 'say'", "for example tiller steer "],
        ),
        (
            &["steer", "0a1b2c3d", "hello"],
            &["no running session '0a1b2c3d'"],
        ),
        (
            &["steer", &ids[0][..4], "hello"],
            &["matches several sessions"],
        ),
        (&["steer", "", "hello"], &["no running session ''"]),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        for word in words.iter().chain(&ends) {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    }
    let ran = sandbox.run(&["steer", ids[0], "  "]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("the message is empty"), "{ran:#?}");
    let ran = sandbox.run_with(&["steer", ids[0], "-"], Some(&"x".repeat(1024 * 1024 + 1)));
    assert!(ran.stderr.contains("over 1 MiB"), "{ran:#?}");

    // After a session, words need no quotes.
    let ran = sandbox.run(&["steer", ends[0], "hello", "from", "afar"]);
    assert!(said(&ran).contains(ends[0]));
    server.wait_requests(1);
    assert_eq!(server.request(0).last_user(), "hello from afar");
    // After this one is killed, the other one needs no name.
    first.signal(nix::sys::signal::Signal::SIGKILL);
    first.wait_dead();
    let left = open_sessions(&sandbox, 1);
    assert!(left[0]["pid"] == second.pid(), "{left:?}");
    let ran = sandbox.run(&["steer", "left", "hello"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let ran = sandbox.run(&["steer", "to the one that is left"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    second.wait_for("to the one that is left");
    second.wait_for("Steered.");
    second.wait_gone("Esc stops");
    second.keys("<c-d>");
    second.wait_exit();
}
