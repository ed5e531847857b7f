//! `--events FILE`: every front end writes the same records, and nothing waits for the file.

use std::fs;
use std::io::Read;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{Failure, ModelServer, Reply, Wire};
use crate::support::sandbox::Sandbox;
use crate::support::screen::Launch;

/// A job with a retry and no parallel calls, so that its events have only one order.
fn stage() -> (ModelServer, Sandbox) {
    let failed = Reply::error(Failure::Overloaded);
    let edit = json!({"file_path": "src/math.rs", "old_text": "a - b", "new_text": "a + b"});
    let (server, sandbox) = job::stage_with(vec![
        failed,
        Reply::text("Größe 日本 🦀").and_call("edit", edit),
        Reply::call("bash", json!({"command": "echo tested; exit 3"})),
        Reply::text(job::ANSWER),
    ]);
    let settings = "[models]\nlocal = false\n[retry]\nbase_ms = 1\n";
    fs::write(sandbox.config().join("config.toml"), settings).unwrap();
    (server, sandbox)
}

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    let parse = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

/// The parts that are the same in two runs of one script.
fn lasting(records: Vec<Value>) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in [
                    "seq",
                    "time",
                    "id",
                    "queueId",
                    "timestamp",
                    "cwd",
                    "durationMs",
                    "duration_ms",
                ] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut records = records;
    // Progress events may be dropped.
    records.retain(|record| record["type"] != "tool_execution_update");
    records.iter_mut().for_each(strip);
    records
}

#[test]
fn every_front_end_writes_the_same_events() {
    let (_server, sandbox) = stage();
    let model = Wire::ALL[0].model();
    let file = sandbox.tmp().join("events.jsonl");
    let ran = sandbox.run(&[
        "--mode",
        "json",
        "-m",
        model,
        "--events",
        file.to_str().unwrap(),
        job::PROMPT,
    ]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        ran.stdout,
        "the event file must match stdout byte for byte"
    );
    let expected = lasting(ran.records());
    let kind = |kind: &str| expected.iter().filter(|it| it["type"] == kind).count();
    assert_eq!(
        (kind("auto_retry_start"), kind("tool_execution_end")),
        (1, 2)
    );

    for print in [true, false] {
        let (_server, sandbox) = stage();
        let file = sandbox.tmp().join("events.jsonl");
        let events = file.to_str().unwrap();
        if print {
            let ran = sandbox.run(&["-p", "-m", model, "--events", events, job::PROMPT]);
            assert_eq!(ran.code, Some(0), "{ran:#?}");
        } else {
            let screen = Launch::new(&sandbox)
                .args(&["-m", model, "--events", events, job::PROMPT])
                .size(100, 40)
                .start();
            screen.wait_for("Repaired: it adds now.");
            screen.wait_gone("Esc stops");
            screen.keys("<c-d>");
            assert_eq!(screen.wait_exit().code, 0);
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let found = records(&file);
        let rising = |pair: &[Value]| pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64();
        assert!(found[1..].windows(2).all(rising));
        assert!(found[1..].iter().all(|record| record["time"].is_i64()));
        pretty_assert(&lasting(found), &expected);
    }
}

fn pretty_assert(found: &[Value], expected: &[Value]) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "record {at}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn each_run_appends_its_events() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("One."), Reply::text("Two.")]);
    let file = sandbox.tmp().join("events.jsonl");
    for _ in 0..2 {
        let ran = sandbox.run(&[
            "-p",
            "-m",
            Wire::ALL[0].model(),
            "--events",
            file.to_str().unwrap(),
            "Go",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
    }
    let count = |kind: &str| {
        records(&file)
            .iter()
            .filter(|it| it["type"] == kind)
            .count()
    };
    assert_eq!((count("session"), count("agent_settled")), (2, 2));
}

#[test]
fn an_unwritable_event_file_does_not_delay_the_run() {
    let sandbox = Sandbox::new();
    let fifo = sandbox.tmp().join("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    for (file, told) in [(fifo.to_str().unwrap(), false), ("/dev/full", true)] {
        let (_server, sandbox) = stage();
        let ran = sandbox.run(&[
            "-p",
            "-m",
            Wire::ALL[0].model(),
            "--events",
            file,
            job::PROMPT,
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(ran.stdout.trim_end(), job::ANSWER);
        let said = ran.stderr.matches("Can't write events to /dev/full");
        assert_eq!(said.count(), usize::from(told), "{ran:#?}");
    }
}

#[test]
fn a_reader_may_come_late_and_leave_early() {
    let (server, sandbox) = job::stage_with(vec![
        Reply::text("First.").and_call("ls", json!({})),
        Reply::new().gate("late").say("Last."),
    ]);
    let fifo = sandbox.tmp().join("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    let arguments = [
        "-p",
        "-m",
        Wire::ALL[0].model(),
        "--events",
        fifo.to_str().unwrap(),
        "Go",
    ];
    let child = sandbox.tiller(&arguments).spawn().unwrap();
    server.wait_gate("late");
    let mut start = [0; 17];
    let mut reader = fs::File::open(&fifo).unwrap();
    reader.read_exact(&mut start).unwrap();
    assert_eq!(&start, br#"{"type":"session""#);
    drop(reader);
    server.release("late");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"Last.\n");
}

#[test]
fn an_invalid_event_file_is_a_usage_error() {
    let (server, sandbox) = job::stage_with(Vec::new());
    let own = sandbox.tmp().join("out");
    for (file, why) in [
        ("-", "stdout is in use"),
        (".", "it is a folder"),
        ("no/such/folder/events", "No such file or directory"),
    ] {
        for mode in ["json", "text"] {
            let ran = sandbox.run(&[
                "--mode",
                mode,
                "--events",
                file,
                "-m",
                Wire::ALL[0].model(),
                "Go",
            ]);
            assert_eq!(ran.code, Some(2), "{ran:#?}");
            assert!(ran.stderr.contains(why), "{ran:#?}");
            assert_eq!(ran.stdout, "");
        }
    }
    // It's still stdout under another name.
    let arguments = [
        "--mode",
        "json",
        "--events",
        "/dev/stdout",
        "-m",
        Wire::ALL[0].model(),
        "Go",
    ];
    let mut command = sandbox.tiller(&arguments);
    command.stdout(fs::File::create(&own).unwrap());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout is in use"));
    assert!(server.requests().is_empty());
}
