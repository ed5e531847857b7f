//! Bad input and bad servers, end to end. An error says what tiller looked for, where, and what to
//! do. The test checks the exact words where a user has to act on them.

use std::net::TcpListener;

use crate::support::job;
use crate::support::model_server::{Cut, Failure, Reply, Wire};
use crate::support::sandbox::{Ran, Sandbox};

/// Shows the error immediately, without retries.
const ONCE: [&str; 2] = ["--config", "retry.max=0"];

#[track_caller]
fn check(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    assert_eq!(ran.stdout, "", "stdout must carry only the answer");
    for word in words {
        assert!(
            ran.stderr.contains(word),
            "{word:?} is missing: {}",
            ran.stderr
        );
    }
    // Nothing that a user doesn't need: no debug output, no backtrace, no escapes.
    for noise in ["Some(", "Error {", "panicked", "\x1b"] {
        assert!(!ran.stderr.contains(noise), "{noise:?}: {}", ran.stderr);
    }
}

#[test]
fn invalid_command_lines_say_what_to_do() {
    let sandbox = Sandbox::new();
    for (arguments, words) in [
        (
            &["-p", "--modle", "x", "hi"][..],
            &["--modle", "--model"][..],
        ),
        (
            &["-p", "-m", "no-such-thing", "hi"],
            &["no-such-thing", "models.toml", "provider/id"],
        ),
        (
            &["-p", "-m", "nowhere/model", "hi"],
            &["unknown provider 'nowhere'", "models.toml"],
        ),
        (
            &["sesions"],
            &["sesions", "tiller sessions", "tiller -- sesions"],
        ),
        (&["serve"], &["no sub-command 'serve'", "tiller acp"]),
        (
            &["sessions", "resume", "0a1b"],
            &["no sub-command 'resume': use tiller -r SESSION"],
        ),
        (
            &["-p", "/fix 12"],
            &["no command /fix", "tiller -p -- '/fix 12'"],
        ),
        (&["login", "--help"], &["use tiller auth add PROVIDER"]),
        (&["resume", "0a1b2c3d"], &["tiller -r SESSION"]),
        (&["run", "fix the bug"], &["use tiller PROMPT"]),
        (&["undo"], &["use tiller -p -c /undo"]),
        (&["--trust", "auth", "add", "x"], &["tiller auth add x;"]),
        (
            &["status", "of", "the", "build"],
            &["unexpected argument", "tiller -- status of the build"],
        ),
        (
            &["-p", "--output-format=json", "hi"],
            &["error: tiller has no --output-format; use --mode json"],
        ),
        (
            &["-p", "-i", "a.png", "hi"],
            &["error: tiller has no -i; put @FILE into the prompt"],
        ),
        (&["-p", "-c", "model=x", "hi"], &["--config KEY=VALUE"]),
        (
            &["-p", "--config", "my.toml", "hi"],
            &["TILLER_CONFIG_DIR=DIR"],
        ),
        (&["-p", "--budget", "3", "hi"], &["'--budget-usd'"]),
        (
            &["-p", "--budget-usd", "3x", "hi"],
            &["expected US dollars from 0, such as 2.5"],
        ),
        (
            &["-p", "--max-iterations", "-3", "hi"],
            &["'-3'", "expected a whole number from 0, such as 100"],
        ),
        (&["-p", "--thinking", "huge", "hi"], &["huge"]),
        (&["-p", "-C", "/no/such/folder", "hi"], &["/no/such/folder"]),
        (
            &["-p", "--config", "agent.max_iteration=3", "hi"],
            &["agent.max_iterations"],
        ),
    ] {
        check(&sandbox.run(arguments), 2, words);
    }
}

#[test]
fn a_wrong_guess_is_not_made() {
    let sandbox = Sandbox::new();
    for (arguments, unknown) in [
        (&["-p", "--foo", "hi"][..], "'--foo'"),
        (&["-p", "--no-such", "hi"], "'--no-such'"),
        (&["-p", "--searchable", "hi"], "'--searchable'"),
    ] {
        let ran = sandbox.run(arguments);
        check(&ran, 2, &[unknown, "try '--help'"]);
        assert!(!ran.stderr.contains("tip:"), "{}", ran.stderr);
    }
}

#[test]
fn a_missing_key_is_reported_with_a_hint() {
    let sandbox = Sandbox::new();
    for (model, variable) in [
        ("anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"),
        ("openai/gpt-scripted", "OPENAI_API_KEY"),
    ] {
        let ran = sandbox.run(&["-p", "-m", model, "hi"]);
        let line = format!("export {variable}=");
        check(&ran, 1, &[variable, &line]);
    }
}

#[test]
fn an_unreachable_server_is_reported_with_its_address() {
    // A port without a listener: this takes one and frees it again.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for (wire, variable) in [
        (Wire::Anthropic, "ANTHROPIC"),
        (Wire::Responses, "OPENAI"),
        (Wire::Google, "GEMINI"),
        (Wire::Chat, "GROQ"),
    ] {
        let mut sandbox = Sandbox::new();
        sandbox.set(&format!("{variable}_API_KEY"), "k");
        let url = format!("http://127.0.0.1:{port}");
        sandbox.set(&format!("{variable}_BASE_URL"), &url);
        let ran = sandbox.run(&["-p", "-m", wire.model(), ONCE[0], ONCE[1], "hi"]);
        check(&ran, 1, &["127.0.0.1", &port.to_string()]);
    }
}

#[test]
fn a_proxy_that_does_not_answer_is_named() {
    let mut sandbox = Sandbox::new();
    sandbox.set("ANTHROPIC_API_KEY", "k");
    sandbox.set("HTTPS_PROXY", "http://me:secret@127.0.0.1:9");
    let model = Wire::Anthropic.model();
    let ran = sandbox.run(&["-p", "-m", model, ONCE[0], ONCE[1], "hi"]);
    check(
        &ran,
        1,
        &[
            "through the proxy http://127.0.0.1:9",
            "HTTPS_PROXY",
            "NO_PROXY",
        ],
    );
    assert!(!ran.stderr.contains("secret"), "{ran:#?}");
}

/// A permanent error is shown after a single request.
#[test]
fn a_permanent_server_error_is_shown_without_retries() {
    for wire in Wire::ALL {
        for (reply, words) in [
            (
                Reply::error(Failure::Auth),
                &["the provider refused the key (4", "API_KEY"][..],
            ),
            (Reply::error(Failure::Forbidden), &["403"]),
            (Reply::error(Failure::Invalid), &["400"]),
            (Reply::error(Failure::Overflow), &["too long"]),
            (Reply::error(Failure::Quota), &["quota or credit"]),
            (Reply::error(Failure::NotFound), &["404"]),
            (
                Reply::http(404, "text/plain", "404 page not found"),
                &["(asked http://127.0.0.1:", "Check the base URL"],
            ),
        ] {
            let failure = reply.error;
            let (server, sandbox) = job::stage_with(vec![reply]);
            let ran = sandbox.run(&["-p", "-m", wire.model(), "hi"]);
            assert!(ran.code == Some(1), "{wire:?} {failure:?}: {ran:#?}");
            check(&ran, 1, words);
            assert_eq!(server.requests().len(), 1, "{wire:?} {failure:?}");
            // The prompt isn't lost.
            let messages = sandbox.session_messages();
            assert_eq!(messages[0]["role"], "user", "{messages:#?}");
        }
    }
}

/// tiller retries a temporary error. stderr says why it takes longer.
#[test]
fn temporary_errors_are_retried() {
    for wire in Wire::ALL {
        let replies = vec![
            Reply::error(Failure::Overloaded),
            Reply::text("half").cut(Cut::Close),
            Reply::text("Back."),
        ];
        let (server, sandbox) = job::stage_with(replies);
        let quick = ["--config", "retry.base_ms=1"];
        let ran = sandbox.run(&["-p", "-m", wire.model(), quick[0], quick[1], "hi"]);
        assert_eq!(ran.code, Some(0), "{wire:?} {ran:#?}");
        assert_eq!(ran.stdout, "Back.\n", "{wire:?}");
        for words in [
            "overloaded",
            "retrying (1 of 5) in 1 s",
            "lost the connection",
            "retrying (2 of 5) in",
        ] {
            assert!(ran.stderr.contains(words), "{wire:?} {}", ran.stderr);
        }
        assert_eq!(server.requests().len(), 3);
    }
}

/// Waiting wouldn't start the server.
#[test]
fn a_closed_port_of_this_machine_is_told_at_once() {
    let mut sandbox = Sandbox::new();
    sandbox.set("ANTHROPIC_API_KEY", "k");
    sandbox.set("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let ran = sandbox.run(&["-p", "-m", "sonnet", "hi"]);
    check(
        &ran,
        1,
        &[
            "nothing listens on http://127.0.0.1:9/v1/messages",
            "Start the server, or correct its address: ANTHROPIC_BASE_URL",
        ],
    );
    for words in ["retrying", "os error"] {
        assert!(!ran.stderr.contains(words), "{ran:#?}");
    }
}

#[test]
fn a_run_without_a_key_does_not_start() {
    for mode in ["text", "json"] {
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&["-p", "--mode", mode, "-m", "sonnet", "hi"]);
        check(&ran, 1, &["tiller auth add anthropic", "/login anthropic"]);
        assert!(ran.stderr.starts_with("error: no API key"), "{ran:#?}");
        assert!(sandbox.session_files().is_empty(), "{mode}");
    }
}

#[test]
fn responses_that_are_not_from_a_model_are_reported() {
    let html = "<html><head><title>Sign in</title></head><body>Wi-Fi</body></html>";
    for wire in Wire::ALL {
        for (reply, words) in [
            (
                Reply::http(200, "text/html", html),
                &["web page", "base url"][..],
            ),
            (Reply::http(502, "text/html", html), &["502"]),
            (Reply::http(200, "application/json", "{}"), &[]),
            (Reply::new(), &[]),
            (Reply::text("half").cut(Cut::Close), &[]),
            (Reply::text("half").cut(Cut::Reset), &[]),
            (Reply::text("half").cut(Cut::End), &[]),
            (
                Reply::text("half")
                    .raw("data: {\"type\": oops\n\n")
                    .cut(Cut::End),
                &[],
            ),
            (
                Reply::text("half").fail(Failure::Overloaded),
                &["overloaded"],
            ),
        ] {
            let shown = format!("{wire:?} {reply:?}");
            let (_server, sandbox) = job::stage_with(vec![reply]);
            let ran = sandbox.run(&["-p", "-m", wire.model(), ONCE[0], ONCE[1], "hi"]);
            assert_eq!(ran.code, Some(1), "{shown}: {ran:#?}");
            assert!(!ran.stderr.trim().is_empty(), "{shown}: stderr is empty");
            let said = ran.stderr.to_lowercase();
            for word in words {
                assert!(said.contains(&word.to_lowercase()), "{shown}: {said}");
            }
            assert!(
                !said.contains("<html") && !said.contains("panicked"),
                "{said}"
            );
        }
    }
}

/// A response cut at any byte doesn't hang, and doesn't pass for a complete one.
#[test]
fn a_stream_cut_at_any_byte_is_an_error() {
    for wire in Wire::ALL {
        for at in [1, 30, 150, 280, 400, 500] {
            let reply = Reply::text("a sentence of some length")
                .call_text("read", "{\"file_path\":\"README.md\"}")
                .cut_after(at, Cut::Close);
            let (server, sandbox) = job::stage_with(vec![reply]);
            let ran = sandbox.run(&["-p", "-m", wire.model(), ONCE[0], ONCE[1], "hi"]);
            assert_eq!(ran.code, Some(1), "{wire:?} {at}: {ran:#?}");
            assert_eq!(
                server.requests().len(),
                1,
                "no tool may run, so there's no second request"
            );
        }
    }
}

#[test]
fn no_file_and_no_error_contains_a_key() {
    let (_server, sandbox) = job::stage_with(vec![Reply::error(Failure::Auth)]);
    let ran = sandbox.run(&["-p", "-m", Wire::Anthropic.model(), "hi"]);
    assert!(!ran.stderr.contains("test-key-anthropic"), "{}", ran.stderr);
    for file in sandbox.all_files() {
        let text = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("test-key-anthropic"), "{}", file.display());
    }
}
