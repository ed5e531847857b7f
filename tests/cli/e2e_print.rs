//! Print mode, end to end: the real binary against the model server, over every wire.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::support::job;
use crate::support::model_server::{Failure, Reply, Said, Wire};
use crate::support::screen::Launch;

/// The whole job: the tools, the edit on disk, each request, and the session file.
#[test]
fn print_mode_does_the_main_job() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage();
        let ran = sandbox.run(&["-p", "-m", wire.model(), job::PROMPT]);
        assert_eq!(ran.code, Some(0), "{wire:?}: {ran:#?}");
        assert_eq!(ran.stdout, format!("{}\n", job::ANSWER));
        assert_eq!(ran.stderr, "");
        assert_eq!(sandbox.read("src/math.rs"), job::AFTER);

        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        assert_eq!(requests[0].last_user(), job::PROMPT);
        let editing = if wire == Wire::Google {
            "replace"
        } else {
            "edit"
        };
        for tool in ["read", "write", editing, "bash", "grep", "find", "ls"] {
            assert!(requests[0].tools().iter().any(|it| it == tool), "{tool}");
        }
        // Results come in the order of the calls.
        let results = requests[1].results();
        assert!(results[0].contains("src/math.rs:1: fn add"), "{results:?}");
        assert!(results[1].contains("a - b"), "{results:?}");
        assert!(results[2].contains("README.md"), "{results:?}");
        let said = requests[1].said();
        assert!(said.iter().any(|said| matches!(
            said,
            Said::Assistant { text, calls, .. }
                if text == "I look around first: größe 日本 🦀." && calls.len() == 3
        )));
        // The model reads a short text. Only users see the diff.
        let results = requests[2].results();
        assert!(results[3].starts_with("Successfully edited"), "{results:?}");
        let sent = requests[2].text();
        assert!(!sent.contains("details") && !sent.contains("+ 2"), "{sent}");
        assert!(requests[3].results()[4].contains("tested"));

        // The session keeps what users saw.
        let messages = sandbox.session_messages();
        let roles: Vec<&str> = messages
            .iter()
            .map(|it| it["role"].as_str().unwrap())
            .collect();
        let mut expected = vec![
            "user",
            "assistant",
            "toolResult",
            "toolResult",
            "toolResult",
        ];
        expected.extend([
            "assistant",
            "toolResult",
            "assistant",
            "toolResult",
            "assistant",
        ]);
        assert_eq!(roles, expected);
        let diff = messages[6]["details"]["diff"].as_str().unwrap();
        assert!(
            diff.contains("-2     a - b") && diff.contains("+2     a + b"),
            "{diff}"
        );
        assert_eq!(messages[6]["details"]["firstChangedLine"], 2);
    }
}

/// A proxy for the internet can't reach a server on this machine.
#[test]
fn local_addresses_bypass_the_proxy() {
    let (server, mut sandbox) = job::stage_with(vec![Reply::text("here")]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        // Nothing listens there.
        sandbox.set(name, "http://127.0.0.1:1");
    }
    let ran = sandbox.run(&["-p", "-m", Wire::Chat.model(), "go"]);
    assert_eq!(ran.stdout, "here\n", "{ran:#?}");
    assert_eq!(server.requests().len(), 1);
}

/// A terminal never executes escapes from a model, but a pipe gets every byte.
#[test]
fn a_models_escapes_do_not_reach_a_terminal() {
    let said = "\u{1b}]0;owned\u{7}\u{1b}[31mred\u{9b}2J end";
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage_with(vec![Reply::text(said), Reply::text(said)]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "go"]);
        assert_eq!(ran.stdout, format!("{said}\n"), "{ran:#?}");
        let screen = Launch::new(&sandbox)
            .args(&["-p", "-m", wire.model(), "go"])
            .start();
        assert_eq!(screen.wait_exit().code, 0);
        let raw = String::from_utf8(screen.raw()).unwrap();
        assert!(raw.contains("red") && raw.contains("end"), "{raw:?}");
        assert!(!raw.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{raw:?}");
    }
}

#[test]
fn stdin_comes_before_the_prompt() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
    let model = Wire::Chat.model();
    let ran = sandbox.run_with(&["-p", "-m", model, "what is it?"], Some("a pipe\n"));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let user = server.request(0).last_user();
    let (pipe, prompt) = (
        user.find("a pipe").unwrap(),
        user.find("what is it?").unwrap(),
    );
    assert!(pipe < prompt, "{user}");
}

/// A caller whose pipe stays open learns what tiller waits for.
#[test]
fn a_silent_stdin_is_reported_and_can_be_skipped() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("ok"), Reply::text("ok")]);
    let flags = ["-p", "-m", Wire::Chat.model(), "go"];
    let mut child = sandbox
        .tiller(&flags)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines.next().unwrap().unwrap();
    assert!(told.starts_with("tiller: waiting for stdin"), "{told}");
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().stdout, b"ok\n");
    let arguments = [&flags[..], &["--no-stdin"]].concat();
    let mut child = sandbox
        .tiller(&arguments)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let _open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.stdout, output.stderr),
        (b"ok\n".to_vec(), Vec::new())
    );
}

#[test]
fn a_mentioned_file_that_does_not_exist_is_reported() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
    let model = Wire::Chat.model();
    let ran = sandbox.run(&["-p", "-m", model, "look at @src/math.rs and @src/maht.rs"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert_eq!(
        ran.stderr,
        "error: can't use @src/maht.rs (no such file; did you mean @src/math.rs?). Without the @ it is text\n"
    );
    assert_eq!(server.requests().len(), 0);
    let ran = sandbox.run(&[
        "-p",
        "-m",
        model,
        "look at @nosuch.rs and @src/math.rs, @src/math.rs:900, @param",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let lines = std::fs::read_to_string(sandbox.path().join("src/math.rs"))
        .unwrap()
        .lines()
        .count();
    assert_eq!(
        ran.stderr,
        format!(
            "tiller: not attached: @nosuch.rs (no such file). Without the @ it is text\n\
             tiller: not attached: @src/math.rs:900 (the file has {lines} lines)\n"
        )
    );
    assert!(
        server
            .request(0)
            .text()
            .contains("<file path=\\\"src/math.rs")
    );
    sandbox.write("data.csv", &"1,2\n".repeat(20_000));
    sandbox.write("log.csv", &"1,2\n".repeat(400_000));
    let ran = sandbox.run(&["-p", "-m", model, "sum up @log.csv"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let ran = sandbox.run(&["-p", "-m", model, "sum up @data.csv"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(
        ran.stderr
            .contains("can't use @data.csv (larger than 64 KiB"),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["-p", "-m", model, "@nosuch.rs explain"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("can't use @nosuch.rs"), "{ran:#?}");
}

#[test]
fn a_run_that_cannot_be_saved_costs_nothing() {
    let (server, mut sandbox) = job::stage_with(vec![Reply::text("ok")]);
    let file = sandbox.path().join("src/math.rs");
    sandbox.set("TILLER_DATA_DIR", file.to_str().unwrap());
    let run = ["-p", "-m", Wire::Chat.model(), "go"];
    let ran = sandbox.run(&run);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("Add --no-session"), "{ran:#?}");
    assert_eq!(server.requests().len(), 0);
    let ran = sandbox.run(&[&run[..], &["--no-session"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:#?}");
}

#[test]
fn no_session_writes_nothing() {
    let (_server, sandbox) = job::stage();
    let before: Vec<_> = sandbox.all_files();
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "--no-session", "-m", model, job::PROMPT]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(
        sandbox.all_files(),
        before,
        "only the edited file may change"
    );
}

#[test]
fn a_run_fails_if_its_session_cannot_be_saved() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("Here."), Reply::text("Here.")]);
    let run = ["-p", "-m", Wire::Anthropic.model(), "go"];
    assert_eq!(sandbox.run(&run).code, Some(0));
    let file = sandbox.session_files().remove(0);
    let folder = file.parent().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::write(folder, "in the way").unwrap();
    let ran = sandbox.run(&run);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert_eq!(ran.stdout, "Here.\n");
    assert!(
        ran.stderr.contains("Couldn't save the end of the session"),
        "{}",
        ran.stderr
    );
}

/// The limit counts model calls. Reaching it is an error that says how to continue.
#[test]
fn the_turn_limit_stops_an_endless_run() {
    let endless = Reply::call("ls", json!({})).repeat();
    let (server, sandbox) = job::stage_with(vec![endless]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, "--max-iterations", "3", "go"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.stderr.contains("Max iterations (3) exceeded"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), 3);
}

/// tiller offers only the tools in the set, and rejects a call of another one.
#[test]
fn a_tool_set_limits_what_is_offered_and_run() {
    for wire in Wire::ALL {
        let (server, sandbox) = job::stage_with(vec![
            Reply::call("bash", json!({"command": "echo x > made"})),
            Reply::text("ok"),
        ]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "--tools", "read_only", "go"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let mut tools = server.request(0).tools();
        tools.sort();
        assert_eq!(tools, ["find", "grep", "ls", "read"]);
        assert_eq!(server.request(1).results(), ["Tool 'bash' not available"]);
        assert!(!sandbox.path().join("made").exists());
    }
}

/// An invalid call gets an error as its result, and the run continues.
#[test]
fn invalid_calls_get_error_results() {
    for wire in Wire::ALL {
        let calls = Reply::new()
            .and_call("foo", json!({}))
            .and_call("bash", json!({"timeout": "soon"}));
        // Google's wire sends arguments as JSON, not as text.
        let calls = if wire == Wire::Google {
            calls.and_call("read", json!({}))
        } else {
            calls.call_text("read", "{\"file_path\": \"a")
        };
        let (server, sandbox) = job::stage_with(vec![calls, Reply::text("ok")]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "go"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let results = server.request(1).results();
        assert_eq!(results[0], "Tool 'foo' not found");
        assert!(
            results[1].starts_with("error: invalid input: "),
            "{results:?}"
        );
        assert!(
            results[1].contains("; "),
            "it must name all violations: {results:?}"
        );
        assert!(
            results[2].starts_with("error: invalid input: "),
            "{results:?}"
        );
    }
}

#[test]
fn a_timeout_ends_the_run_and_its_processes() {
    let (server, sandbox) = job::stage_with(vec![Reply::call(
        "bash",
        json!({"command": "echo $$ > pid; sleep 1000"}),
    )]);
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, "--timeout", "2", "go"]);
    assert_eq!(ran.code, Some(124), "{ran:#?}");
    assert!(ran.stderr.contains("--timeout"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 1);
    let pid: i32 = sandbox.read("pid").trim().parse().unwrap();
    wait_dead(pid);
}

/// The timeout starts with the program, even if it still waits for something before the run.
#[test]
fn a_timeout_ends_the_wait_for_stdin_and_for_a_session() {
    let (_server, sandbox) = job::stage_with(vec![Reply::text("ok")]);
    let flags = ["-p", "-m", Wire::Chat.model(), "--timeout", "1.5"];
    let first = sandbox.run(&[&flags[..4], &["30", "go"]].concat());
    assert_eq!(first.code, Some(0), "{first:#?}");
    let mut child = sandbox
        .tiller(&[&flags[..], &["go"]].concat())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(124), "{stderr}");
    assert!(
        stderr.ends_with("--timeout ran out: stdin didn't end\n"),
        "{stderr}"
    );
    // Locks the session as another tiller would.
    let file = std::fs::File::open(&sandbox.session_files()[0]).unwrap();
    file.lock().unwrap();
    let ran = sandbox.run(&[&flags[..], &["-c", "--wait", "go"]].concat());
    assert_eq!(ran.code, Some(124), "{ran:#?}");
    assert!(
        ran.stderr.contains("--timeout ran out: the session"),
        "{ran:#?}"
    );
}

#[test]
fn a_signal_ends_the_run_with_its_exit_code() {
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ] {
        let (server, sandbox) = job::stage_with(vec![Reply::text("partial").gate("never")]);
        let model = Wire::Anthropic.model();
        let mut child = sandbox
            .tiller(&["--mode", "json", "-m", model, "go"])
            .spawn()
            .unwrap();
        // A record tells when the partial answer has arrived.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("text_delta")));
        std::thread::spawn(move || lines.count());
        let sent = Instant::now();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}: {output:?}");
        server.wait_disconnect(0);
        assert!(
            sent.elapsed() < Duration::from_secs(2),
            "{:?}",
            sent.elapsed()
        );
        // The session keeps the partial answer.
        let messages = sandbox.session_messages();
        assert_eq!(messages[1]["stopReason"], "aborted", "{messages:#?}");
        assert_eq!(messages[1]["content"][0]["text"], "partial");
    }
}

/// A provider from the user's own models.toml, with a literal key.
#[test]
fn a_provider_from_the_users_models_toml_works() {
    for wire in Wire::ALL {
        let server = job::stage_with(vec![Reply::text("ok")]).0;
        let sandbox = job::sandbox();
        sandbox.add_provider("lab", &server, wire);
        let ran = sandbox.run(&["-p", "-m", "lab/scripted", "go"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "ok\n"),
            "{ran:#?}"
        );
        let request = server.request(0);
        let key = request
            .header("x-api-key")
            .or(request.header("x-goog-api-key"))
            .or(request.header("authorization"));
        assert!(key.unwrap().ends_with("literal-key"));
        let asked = request.body["model"] == "scripted" || request.path.contains("/scripted:");
        assert!(asked, "{request:?}");
    }
}

/// Right after tiller exits, none of its processes is left, however stubborn.
#[test]
fn no_process_outlives_the_program() {
    let stubborn = json!({"command": "(trap '' TERM; echo $BASHPID > pid; exec sleep 1000) > /dev/null 2>&1 &\nuntil test -s pid; do :; done"});
    for (flags, code) in [(&[][..], 0), (&["--timeout", "5"], 124)] {
        let last = match code {
            0 => Reply::text("ok"),
            _ => Reply::text("ok").gate("never"),
        };
        let (_server, sandbox) = job::stage_with(vec![Reply::call("bash", stubborn.clone()), last]);
        let arguments = [&["-p", "-m", Wire::Anthropic.model(), "go"], flags].concat();
        let ran = sandbox.run(&arguments);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let pid: i32 = sandbox.read("pid").trim().parse().unwrap();
        assert!(kill(Pid::from_raw(pid), None).is_err(), "{ran:#?}");
    }
}

fn wait_dead(pid: i32) {
    let end = Instant::now() + Duration::from_secs(20);
    while kill(Pid::from_raw(pid), None).is_ok() {
        assert!(Instant::now() < end, "process {pid} is still alive");
        std::thread::yield_now();
    }
}

/// stderr says why tiller waits for the next attempt, and how long.
#[test]
fn stderr_reports_the_wait_before_a_retry() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage_with(vec![
            Reply::error(Failure::RateLimit),
            Reply::error(Failure::Overloaded),
            Reply::text("At last."),
        ]);
        let ran = sandbox.run(&[
            "-p",
            "-m",
            wire.model(),
            "--config",
            "retry.base_ms=20",
            "--config",
            "retry.jitter=false",
            "go",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert_eq!(ran.stdout, "At last.\n");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(lines[0].contains("too many requests"), "{lines:?}");
        let retries: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| line.starts_with("tiller: retrying "))
            .collect();
        assert_eq!(
            retries,
            [
                "tiller: retrying (1 of 5) in 1 s",
                "tiller: retrying (2 of 5) in 1 s"
            ]
        );
    }
}

/// A failed run prints no partial answer on stdout, where a script could take it for the answer.
/// stderr gives the reason once.
#[test]
fn a_run_that_fails_leaves_nothing_on_stdout() {
    let look = || Reply::text("I look around.").and_call("ls", json!({}));
    let failing = vec![look(), Reply::error(Failure::Invalid)];
    let cases: [(Vec<Reply>, &[&str], &str); 3] = [
        (failing, &[], "400"),
        (
            vec![look().repeat()],
            &["--max-iterations", "2"],
            "Max iterations (2) exceeded",
        ),
        (
            vec![look(), Reply::new().say("")],
            &["--config", "retry.max=0"],
            "the model sent an empty answer",
        ),
    ];
    for wire in Wire::ALL {
        for (replies, options, told) in &cases {
            let (_server, sandbox) = job::stage_with(replies.clone());
            let mut args = vec!["-p", "-m", wire.model()];
            args.extend(*options);
            args.push("go");
            let ran = sandbox.run(&args);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:#?}");
            assert_eq!(ran.stderr.matches(told).count(), 1, "{ran:#?}");
        }
    }
}

/// A cut answer is printed as far as it goes, and the run fails.
#[test]
fn an_answer_cut_at_the_output_limit_is_reported() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage_with(vec![Reply::text("Half of").stop("length")]);
        let ran = sandbox.run(&["-p", "-m", wire.model(), "go"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), "Half of\n"),
            "{ran:#?}"
        );
        assert!(ran.stderr.contains("output limit"), "{ran:#?}");
    }
}
