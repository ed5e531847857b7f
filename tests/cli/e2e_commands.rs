//! Slash commands outside the screen: print mode, JSON, RPC and ACP run the same ones.

use serde_json::{Value, json};

use crate::support::acp::{AcpClient, text_of};
use crate::support::job;
use crate::support::model_server::{Reply, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::Sandbox;

#[test]
fn print_mode_runs_commands_on_the_last_session() {
    let summary = "## Goal\nGreet.";
    let (server, sandbox) = job::stage_with(vec![Reply::text("Hello."), Reply::text(summary)]);
    let model = Wire::Anthropic.model();
    // A short conversation isn't compacted.
    let prompt = "Greet me. ".repeat(200);
    let ran = sandbox.run(&["-p", "-m", model, &prompt]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ran = sandbox.run(&["-p", "-c", "/name Greetings"]);
    assert_eq!(
        (ran.code, ran.stdout.trim()),
        (Some(0), "This session is now Greetings"),
        "{ran:#?}"
    );
    let ran = sandbox.run(&["-p", "-c", "/status"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for line in [
        &format!("Model: {model}, "),
        "Mode: full",
        "Name: Greetings",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    let ran = sandbox.run(&["-p", "-c", "/compact keep the names"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.starts_with("Compacted"), "{}", ran.stdout);
    let requests = server.requests();
    assert_eq!(
        requests.len(),
        2,
        "only the prompt and the summary are sent"
    );
    assert!(requests[1].text().contains("keep the names"));
    let has_compaction = |entry: &Value| entry["type"] == "compaction";
    assert!(sandbox.session().iter().any(has_compaction));
    assert_eq!(sandbox.session_files().len(), 1);
}

#[test]
fn a_command_that_fails_exits_with_an_error() {
    let (server, sandbox) = job::stage_with(vec![]);
    let model = Wire::Anthropic.model();
    for (command, why) in [
        ("/permission sometimes", "sometimes"),
        ("/model nosuchmodel", "nosuchmodel"),
        ("/thinking deeply", "deeply"),
        ("/budget lots", "lots"),
        ("/compact", "ompact"),
    ] {
        let ran = sandbox.run(&["-p", "-m", model, command]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), ""),
            "{command}: {ran:#?}"
        );
        assert!(ran.stderr.contains(why), "{command}: {}", ran.stderr);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn only_a_command_that_needs_a_model_needs_a_key() {
    let sandbox = Sandbox::new();
    for (command, code, told) in [
        ("/help", 0, "/permissions"),
        ("/permissions", 0, "Permission mode"),
        ("/model", 0, "Model: none. Add a key"),
        ("/status", 0, "Model: none. Add a key"),
        ("/context", 0, "Nothing sent yet"),
        ("/undo", 1, "Nothing to undo"),
        ("/thinking", 1, "no model: found no API key"),
        ("/compact", 1, "no model: found no API key"),
        ("/review", 1, "no model: found no API key"),
    ] {
        let ran = sandbox.run(&["-p", command]);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(text.contains(told), "{command}: {ran:#?}");
    }
    assert_eq!(sandbox.session_files().len(), 0);
}

#[test]
fn rpc_lists_and_runs_commands() {
    let (server, sandbox) = job::stage_with(vec![Reply::text("Written.")]);
    let mut client = RpcClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    let listed = client.data(json!({"type": "get_commands"}));
    let names: Vec<&str> = listed["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect();
    for name in ["compact", "init", "undo", "status", "name"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let path = &listed["commands"][0]["sourceInfo"]["path"];
    assert!(path.as_str().unwrap().starts_with("<builtin:"), "{path}");
    let ran = client.data(json!({"type": "prompt", "message": "/name Tidy up"}));
    assert_eq!(ran["disposition"], "handled");
    assert_eq!(ran["text"], "This session is now Tidy up");
    let state = client.data(json!({"type": "get_state"}));
    assert_eq!(state["sessionName"], "Tidy up");
    let refused = client.error(json!({"type": "prompt", "message": "/permission sometimes"}));
    assert!(refused.contains("sometimes"), "{refused}");
    assert!(server.requests().is_empty());
    client.prompt("/init in German");
    let sent = server.requests()[0].last_user();
    assert!(
        sent.starts_with("Write `AGENTS.md`") && sent.ends_with("in German"),
        "{sent}"
    );
    assert_eq!(client.close(), Some(0));
}

fn name(command: &Value) -> &str {
    command["name"].as_str().unwrap()
}

#[test]
fn editors_get_the_commands_and_run_them() {
    let slow = Reply::text("A summary.").gate("never");
    let (server, sandbox) = job::stage_with(vec![Reply::text("Written."), slow]);
    let mut client = AcpClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    let session = client.new_session(&sandbox);
    let (reason, updates) = client.prompt(&session, "/status");
    assert_eq!(reason, "end_turn");
    let text = text_of(&updates, "agent_message_chunk");
    assert!(text.contains("Mode: full"), "{text}");
    assert!(server.requests().is_empty());
    let all = client.updates(0, &session);
    let listed = all
        .iter()
        .find(|it| it["sessionUpdate"] == "available_commands_update");
    let listed = listed.expect("the list of commands");
    let names: Vec<&str> = listed["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect();
    assert!(
        names.contains(&"compact") && names.contains(&"init"),
        "{names:?}"
    );
    let (reason, _) = client.prompt(&session, "/init");
    assert_eq!(reason, "end_turn");
    assert!(
        server.requests()[0]
            .last_user()
            .starts_with("Write `AGENTS.md`")
    );
    assert_eq!(client.close(), Some(0));
}
