//! No key leaks, whatever a server echoes and a command reads. The test searches every log,
//! session, record, stdout, stderr and spill file for the key and for its beginning.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::model_server::{Failure, ModelServer, Reply, Script, Step, Wire};
use crate::support::sandbox::{Ran, Sandbox};

const KEY: &str = "sk-test-9f8e7d6c5b4a39281706";
/// What would be left of a key that was truncated instead of redacted.
const PIECE: &str = "sk-test-9f8";

/// Where the key comes from.
#[derive(Clone, Copy, Debug)]
enum From {
    Environment,
    Named,
    Literal,
    Command,
    Stored,
    EnvFile,
}

fn stage(wire: Wire, from: From, replies: Vec<Reply>) -> (ModelServer, Sandbox) {
    let server = ModelServer::start(Script::of(replies));
    let mut sandbox = Sandbox::new();
    // Logs everything, including the libraries' messages.
    sandbox.set("TILLER_LOG", "trace");
    let api_key = match from {
        From::Environment | From::Stored | From::EnvFile => String::new(),
        From::Named => "api_key = \"$LAB_K\"\n".to_owned(),
        From::Literal => format!("api_key = \"{KEY}\"\n"),
        From::Command => format!("api_key = \"!printf '%s' {KEY}; echo {KEY} >&2\"\n"),
    };
    let models = format!(
        "[providers.lab]\napi = \"{}\"\nbase_url = \"{}\"\nenv = [\"LAB_ACCESS\"]\n{api_key}\
         [[providers.lab.models]]\nid = \"scripted\"\n",
        wire.api(),
        server.url(wire)
    );
    std::fs::write(sandbox.config().join("models.toml"), models).unwrap();
    match from {
        From::Environment => sandbox.set("LAB_ACCESS", KEY),
        From::Named => sandbox.set("LAB_K", KEY),
        From::Stored => {
            let ran = sandbox.run_with(&["auth", "add", "lab"], Some(KEY));
            assert_eq!(ran.code, Some(0), "{ran:#?}");
        }
        From::EnvFile => {
            sandbox.write(".env", &format!("LAB_ACCESS={KEY}\n"));
            let folder = sandbox.path().display().to_string();
            let settings = format!("[auth]\nenv_file_folders = [\"{folder}\"]\n");
            std::fs::write(sandbox.config().join("config.toml"), settings).unwrap();
        }
        From::Literal | From::Command => {}
    }
    (server, sandbox)
}

/// Only the files that the test put the key into may contain it.
#[track_caller]
fn check(sandbox: &Sandbox, ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(PIECE), "{text}");
    }
    for file in sandbox.all_files() {
        let own = ["models.toml", "auth.toml", ".env"];
        if own.iter().any(|name| file.ends_with(name)) {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(PIECE), "{}: {text}", file.display());
    }
}

#[test]
fn an_echoed_key_is_redacted() {
    let said = |padding: usize| format!("{} bad key: {KEY}.", "x".repeat(padding));
    let body = |padding| json!({ "error": { "message": said(padding), "type": "x" } }).to_string();
    let event = Step::Error {
        failure: Failure::Auth,
        message: Some(said(0)),
    };
    let replies = [
        Reply::http(401, "application/json", &body(0)).header("x-echo", KEY),
        Reply::http(400, "application/json", &body(0)).header("set-cookie", KEY),
        Reply::http(
            403,
            "text/html",
            &format!("<html><title>{KEY}</title></html>"),
        ),
        Reply::http(404, "text/plain", &format!("{{\"broken\": \"{KEY}")),
        // tiller cuts the message to 600 characters, in the middle of the key.
        Reply::http(400, "application/json", &body(578)),
        Reply::http(307, "text/plain", "")
            .header("location", &format!("http://{KEY}.example/{KEY}")),
        Reply::new().say("Begun").step(event),
    ];
    for wire in Wire::ALL {
        for (number, reply) in replies.iter().enumerate() {
            let (server, sandbox) = stage(wire, From::Environment, vec![reply.clone()]);
            let mode = ["text", "json"][number % 2];
            let ran = sandbox.run(&["-p", "--mode", mode, "-m", "lab/scripted", "hi"]);
            assert_eq!(ran.code, Some(1), "{wire:?} {reply:?}: {ran:#?}");
            assert_eq!(server.requests().len(), 1);
            check(&sandbox, &ran);
            assert!(!sandbox.log().is_empty());
        }
    }
}

#[test]
fn a_key_from_any_source_is_redacted() {
    let body = json!({ "error": { "message": format!("bad key: {KEY}") } }).to_string();
    for from in [
        From::Environment,
        From::Named,
        From::Literal,
        From::Command,
        From::Stored,
        From::EnvFile,
    ] {
        let replies = vec![
            Reply::text("Fine."),
            Reply::http(401, "application/json", &body),
        ];
        let (server, sandbox) = stage(Wire::Chat, from, replies);
        let run = || sandbox.run(&["-p", "--mode", "json", "-m", "lab/scripted", "hi"]);
        let ran = run();
        assert_eq!(ran.code, Some(0), "{from:?}: {ran:#?}");
        let sent = server.requests()[0]
            .header("authorization")
            .map(str::to_owned);
        assert_eq!(sent, Some(format!("Bearer {KEY}")), "{from:?}");
        check(&sandbox, &ran);
        let ran = run();
        assert!(ran.stdout.contains("bad key: ***"), "{from:?}: {ran:#?}");
        check(&sandbox, &ran);
    }
}

/// The key is gone from the environment before tiller waits for anything, such as the end of a
/// pipe.
#[test]
fn other_programs_never_see_the_key_while_tiller_waits() {
    let (_server, sandbox) = stage(Wire::Chat, From::Named, Vec::new());
    let mut command = sandbox.tiller(&["-p", "-m", "lab/scripted", "hi"]);
    let mut tiller = command.stdin(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let environ = std::fs::read(format!("/proc/{}/environ", tiller.id())).unwrap();
        let environ = String::from_utf8_lossy(&environ).into_owned();
        if environ.contains("TILLER_DATA_DIR=") && !environ.contains(PIECE) {
            break;
        }
        assert!(Instant::now() < end, "{environ}");
        std::thread::sleep(Duration::from_millis(2)); // poll
    }
    tiller.kill().unwrap();
    tiller.wait().unwrap();
}

/// Like any process, a command can read the environment of tiller and its supervisor. It holds no
/// key.
#[test]
fn a_command_cannot_read_the_key() {
    let command = "env
        tiller=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status)
        for process in $PPID $tiller; do tr '\\0' '\\n' < /proc/$process/environ; done
        tr '\\0' '\\n' < /proc/$tiller/environ | grep -c ^TILLER_DATA_DIR= | sed s/^/seen-/
        tr '\\0' ' ' < /proc/$tiller/cmdline
        ps eww -p $PPID -p $tiller || true
        for i in $(seq 3000); do env; done | head -c 200000";
    for (from, variable) in [(From::Environment, "LAB_ACCESS"), (From::Named, "LAB_K")] {
        let call = Reply::call("bash", json!({ "command": command }));
        let (server, sandbox) = stage(Wire::Chat, from, vec![call, Reply::text("Done.")]);
        let ran = sandbox.run(&["-p", "--mode", "json", "-m", "lab/scripted", "look"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let result = &server.requests()[1].results()[0];
        assert!(
            result.contains("full output"),
            "the output should have been spilled: {result}"
        );
        let spilled = sandbox
            .all_files()
            .into_iter()
            .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains("seen-1")));
        assert!(spilled, "the command should have read tiller's environment");
        assert!(!server.requests()[1].text().contains(PIECE));
        check(&sandbox, &ran);
        for file in sandbox.all_files() {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let named = text.contains(&format!("{variable}="));
            assert!(!named, "{}: {text}", file.display());
        }
    }
}

/// The user's other secrets, found by the names of their variables.
#[test]
fn tool_results_hold_no_secret_unless_the_user_allows_it() {
    const TOKEN: &str = "hook-7d1f0c52ab9e4683";
    const PASSWORD: &str = "db-41c07aa9e3";
    for (redact, stays) in [("true", false), ("false", true)] {
        let server = ModelServer::start(Script::of([
            Reply::new()
                .and_call("read", json!({"file_path": "deploy.env"}))
                .and_call("grep", json!({"pattern": "HOOK"}))
                .and_call(
                    "bash",
                    json!({"command": "cat deploy.env; base64 -w0 deploy.env; echo \" $SHOP_DB\""}),
                ),
            Reply::text("Done."),
        ]));
        let mut sandbox = Sandbox::with(&[(
            "deploy.env",
            &format!("HOOK={TOKEN}\nMODE=a\nDB={PASSWORD}\n"),
        )]);
        sandbox.use_server(&server);
        sandbox.set("DEPLOY_HOOK_TOKEN", TOKEN);
        sandbox.set("SHOP_DB", &format!("postgres://me:{PASSWORD}@db/shop"));
        let redact = format!("permission.redact={redact}");
        let model = Wire::Anthropic.model();
        let events = sandbox.path().join("events.jsonl");
        let ran = sandbox.run(&[
            "-p",
            "-m",
            model,
            "--config",
            &redact,
            "--events",
            events.to_str().unwrap(),
            "go",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let results = server.request(1).results();
        assert_eq!(results.len(), 3);
        for result in &results {
            assert_eq!(result.contains(TOKEN), stays, "{result}");
            assert_eq!(
                result.contains("HOOK=[redacted: DEPLOY_HOOK_TOKEN]"),
                !stays,
                "{result}"
            );
        }
        assert_eq!(results[0].contains(PASSWORD), stays, "{}", results[0]);
        // Commands don't get the variable at all.
        assert!(
            results[2].contains(" postgres://me@db/shop"),
            "{}",
            results[2]
        );
        let session = format!("{:?}", sandbox.session());
        assert_eq!(session.contains(TOKEN), stays, "{session}");
        // HOOK=hook-7d1f0c52ab9e4683 in base64, cut at a group of three bytes.
        let coded = "SE9PSz1ob29rLTdkMWYwYzUyYWI5ZTQ2ODMK";
        assert_eq!(results[2].contains(&coded[8..30]), stays, "{}", results[2]);
        let events = std::fs::read_to_string(events).unwrap();
        assert_eq!(events.contains(TOKEN), stays);
    }
}
