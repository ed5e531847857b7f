//! Hooks of type `http`: what they send, and servers that misbehave.

use serde_json::{Value, json};

use super::e2e_hooks::{ask, stage, write_hooks};
use crate::support::hook_server::{HookServer, Play};
use crate::support::model_server::Wire;
use crate::support::sandbox::{Ran, Sandbox};

/// Runs one call with a hook of type `http` for which a server plays `play`.
fn with_server(play: Play, more: Value) -> (HookServer, Sandbox, Ran) {
    let (_server, mut sandbox) = stage(Some("echo x >> RAN; echo out1"));
    sandbox.set("LAB_TOKEN", "s3cret");
    let server = HookServer::start(play);
    let mut entry = json!({"type": "http", "url": format!("{}?k=v", server.url), "timeout": 30});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    let file = sandbox.config().join("hooks.json");
    write_hooks(&file, "PreToolUse", &json!({"hooks": [entry]}));
    let ran = ask(&sandbox, "full");
    assert_eq!(ran.stdout, "final\n", "{ran:#?}");
    (server, sandbox, ran)
}

#[test]
fn an_http_hook_posts_its_input_with_the_headers_it_may_fill() {
    let headers = json!({
        "headers": {"Authorization": "Bearer $LAB_TOKEN", "X-Home": "${HOME}"},
        "allowedEnvVars": ["LAB_TOKEN"],
    });
    let deny = r#"{"decision": "block", "reason": "REASON"}"#;
    let (server, sandbox, _) = with_server(Play::answer(200, deny), headers);
    let requests = server.requests();
    let (head, body) = &requests[0];
    assert!(head.starts_with("post /h?k=v "), "{head}");
    for line in [
        "authorization: bearer s3cret",
        "x-home: \r",
        "content-type: application/json",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    let input: Value = serde_json::from_str(body).unwrap();
    assert_eq!(input["hook_event_name"], "PreToolUse");
    assert_eq!(input["tool_name"], "Bash");
    assert!(!sandbox.path().join("RAN").exists());
}

/// Whatever a server does, the call runs, and the user learns whose fault it is.
#[test]
fn an_http_hook_that_misbehaves_decides_nothing() {
    let torn = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"decision\"".to_vec();
    for (play, more, why) in [
        (Play::answer(500, "{}"), json!({}), "HTTP status 500"),
        (Play::answer(302, ""), json!({}), "HTTP status 302"),
        (Play::answer(200, "fine"), json!({}), "isn't a JSON object"),
        (Play::answer(200, "[]"), json!({}), "isn't a JSON object"),
        (Play::Bytes(torn), json!({}), "lost the connection"),
        (
            Play::Bytes(b"hello\n".to_vec()),
            json!({}),
            "no answer from",
        ),
        (Play::Bytes(Vec::new()), json!({}), "no answer from"),
        (Play::Hang, json!({"timeout": 0.3}), "longer than 0.3 s"),
        (Play::Flood, json!({}), "more than 1048576 bytes"),
        (
            Play::answer(200, "{}"),
            json!({"headers": {"A B": "x"}}),
            "the header A B",
        ),
        (
            Play::answer(200, "{}"),
            json!({"url": "http://127.0.0.1:9/h"}),
            "nothing listens",
        ),
    ] {
        let (_, sandbox, ran) = with_server(play, more);
        assert_eq!(sandbox.read("RAN"), "x\n", "{why}");
        let named = "PreToolUse:Bash hook failed, so it decides nothing: POST http://127.0.0.1:";
        assert!(ran.stderr.contains(named), "{why}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
        assert!(!ran.stderr.contains("k=v"), "{}", ran.stderr);
    }
    let (_, _, ran) = with_server(Play::answer(204, ""), json!({}));
    assert_eq!(ran.stderr, "", "an empty answer is fine");
}

/// It would send the user's prompts to a place that the repository names.
#[test]
fn an_http_hook_of_a_project_never_runs() {
    let (_server, sandbox) = stage(None);
    let server = HookServer::start(Play::answer(200, "{}"));
    let group = json!({"hooks": [{"type": "http", "url": server.url}]});
    let file = sandbox.path().join(".claude/settings.json");
    write_hooks(&file, "UserPromptSubmit", &group);
    let ran = sandbox.run(&["-p", "--trust", "-m", Wire::Anthropic.model(), "go"]);
    assert_eq!(ran.stdout, "final\n", "{ran:#?}");
    assert!(server.requests().is_empty());
    let listed = sandbox.run(&["-p", "--trust", "/hooks"]).stdout;
    assert!(
        listed.contains("an 'http' hook of a project never runs"),
        "{listed}"
    );
}
