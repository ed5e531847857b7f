//! Hooks of a session with a user: they answer questions, and end while the session goes on.

use std::fs;

use serde_json::{Value, json};

use super::e2e_hooks::{command, quoted, stage, write_hooks};
use crate::support::model_server::{ModelServer, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::Sandbox;

/// Starts a program whose model calls `bash` twice in mode `ask`.
fn attended(event: &str, group: &Value) -> (ModelServer, Sandbox, RpcClient) {
    let (server, sandbox) = stage(Some("echo x >> RAN; echo out1"));
    write_hooks(&sandbox.config().join("hooks.json"), event, group);
    let arguments = ["--permission", "ask", "-m", Wire::Anthropic.model()];
    let client = RpcClient::start(&sandbox, &arguments);
    (server, sandbox, client)
}

fn permission(decision: &Value) -> String {
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest", "decision": decision}});
    format!("cat >> ASKED; printf %s {}", quoted(&answer.to_string()))
}

#[test]
fn a_hook_answers_the_question_and_may_change_the_call() {
    let changed = json!({"command": "echo y >> RAN; echo CHANGED"});
    for (decision, ran, result) in [
        (json!({"behavior": "allow"}), "x\n", "out1"),
        (
            json!({"behavior": "allow", "updatedInput": changed}),
            "y\n",
            "CHANGED",
        ),
        (
            json!({"behavior": "deny", "message": "DENYMSG"}),
            "",
            "a hook denied this call: DENYMSG",
        ),
    ] {
        let group = command(&permission(&decision));
        let (server, sandbox, mut client) = attended("PermissionRequest", &group);
        client.prompt("go");
        let text = fs::read_to_string(sandbox.path().join("RAN")).unwrap_or_default();
        assert_eq!(text, ran, "{decision}");
        let results = server.request(1).results();
        assert!(results[0].contains(result), "{results:?}");
        assert_eq!(sandbox.read("ASKED").lines().count(), 1);
    }
}

/// What the hook allows instead is judged like any call, and no hook answers that question.
#[test]
fn a_changed_call_that_a_rule_asks_about_still_asks_the_user() {
    let changed = json!({"behavior": "allow", "updatedInput": {"command": "git push"}});
    let group = command(&permission(&changed));
    let (server, sandbox, mut client) = attended("PermissionRequest", &group);
    client.data(json!({"type": "prompt", "message": "go"}));
    let dialog = client.until(|record| {
        record["type"] == "extension_ui_request" && record["title"].to_string().contains("git push")
    });
    let no = json!({"type": "extension_ui_response", "id": dialog["id"], "value": "No"});
    client.write(&no.to_string());
    client.until_type("agent_settled");
    let results = server.request(1).results();
    assert!(results[0].contains("the user denied"), "{results:?}");
    assert_eq!(sandbox.read("ASKED").lines().count(), 1);
}

/// A hook that takes long must not hold up the user, whose answer counts then.
#[test]
fn the_user_may_answer_before_a_hook() {
    let group = command("cat > ASKED; sleep 60");
    let (server, sandbox, mut client) = attended("PermissionRequest", &group);
    client.data(json!({"type": "prompt", "message": "go"}));
    let dialog = client.until_type("extension_ui_request");
    let no = json!({"type": "extension_ui_response", "id": dialog["id"], "value": "No"});
    client.write(&no.to_string());
    client.until_type("agent_settled");
    let results = server.request(1).results();
    assert!(results[0].contains("the user denied"), "{results:?}");
    assert!(!sandbox.path().join("RAN").exists());
}

/// Sends "one", and waits until the run of the hook in the background that follows is recorded.
fn one_run_in_background(sandbox: &Sandbox, line: &str) -> RpcClient {
    let group = json!({"hooks": [
        {"type": "command", "command": line, "async": true, "asyncRewake": true}]});
    write_hooks(&sandbox.config().join("hooks.json"), "Stop", &group);
    let mut client = RpcClient::start(sandbox, &["-m", Wire::Anthropic.model()]);
    client.prompt("one");
    loop {
        let listed = client.data(json!({"type": "prompt", "message": "/hooks"}));
        if listed.to_string().contains("ran once, last in ") {
            return client;
        }
    }
}

fn late_answer() -> String {
    let answer = json!({"systemMessage": "SYSMSG", "hookSpecificOutput": {
        "hookEventName": "Stop", "additionalContext": "CTXTEXT"}});
    format!("cat > /dev/null; printf %s {}", quoted(&answer.to_string()))
}

#[test]
fn a_hook_in_the_background_answers_with_the_next_prompt_and_is_listed_with_its_runs() {
    let (server, sandbox) = stage(None);
    let mut client = one_run_in_background(&sandbox, &late_answer());
    client.prompt("two");
    let said = server.request(1).text();
    assert!(said.contains("SYSMSG\\n\\nCTXTEXT"), "{said}");
    assert!(!said.contains("hook additional context"), "{said}");
}

#[test]
fn a_hook_in_the_background_answers_only_in_its_session() {
    let (server, sandbox) = stage(None);
    let mut client = one_run_in_background(&sandbox, &late_answer());
    let first = client.data(json!({"type": "get_state"}))["sessionFile"].clone();
    client.data(json!({"type": "new_session"}));
    client.prompt("two");
    let said = server.request(1).text();
    assert!(!said.contains("SYSMSG"), "{said}");
    client.data(json!({"type": "switch_session", "sessionPath": first}));
    client.prompt("three");
    let said = server.request(2).text();
    assert!(said.contains("SYSMSG"), "{said}");
}

/// Only the user starts a run.
#[test]
fn a_hook_in_the_background_that_blocks_is_heard_with_the_next_prompt() {
    let (server, sandbox) = stage(None);
    let line = "cat > /dev/null; echo ERRTEXT >&2; exit 2";
    let mut client = one_run_in_background(&sandbox, line);
    client.prompt("two");
    let said = server.request(1).text();
    let parts = ["Stop hook blocking error from command", "ERRTEXT", "two"];
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn the_list_says_why_a_hook_failed_last() {
    let (_server, sandbox) = stage(None);
    let file = sandbox.config().join("hooks.json");
    write_hooks(
        &file,
        "UserPromptSubmit",
        &command("cat > /dev/null; echo broken >&2; exit 7"),
    );
    let mut client = RpcClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    client.prompt("one");
    client.prompt("two");
    let listed = client
        .data(json!({"type": "prompt", "message": "/hooks"}))
        .to_string();
    let parts = [
        "ran 2 times, last in ",
        " ms; last error: exit code 7 broken",
    ];
    assert!(parts.iter().all(|part| listed.contains(part)), "{listed}");
}
