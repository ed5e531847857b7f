//! RPC mode, end to end: what a program written for pi's protocol sends, and what it gets.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::Sandbox;

fn start(replies: Vec<Reply>) -> (ModelServer, Sandbox, RpcClient) {
    let (server, sandbox) = job::stage_with(replies);
    let client = RpcClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    (server, sandbox, client)
}

#[test]
fn the_main_job_runs_over_every_wire() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage();
        let mut client = RpcClient::start(&sandbox, &["-m", wire.model()]);
        let types = client.prompt(job::PROMPT);
        assert_eq!(types[..3], ["response", "agent_start", "turn_start"]);
        assert_eq!(sandbox.read("src/math.rs"), job::AFTER);
        let text = client.data(json!({"type": "get_last_assistant_text"}));
        assert_eq!(text["text"], job::ANSWER);
        let state = client.data(json!({"type": "get_state"}));
        assert_eq!(state["isStreaming"], false);
        let model = &state["model"];
        let id = format!("{}/{}", text_of(model, "provider"), text_of(model, "id"));
        assert_eq!(id, wire.model());
        let stats = client.data(json!({"type": "get_session_stats"}));
        assert_eq!(stats["toolCalls"], 5);
        assert_eq!(stats["toolResults"], 5);
        assert_eq!(client.close(), Some(0));
        assert_eq!(sandbox.session_files().len(), 1);
    }
}

/// A program that steers must learn that nothing ran.
#[test]
fn steering_an_idle_session_starts_a_run() {
    let (_server, _sandbox, mut client) = start(vec![Reply::text("one"), Reply::text("two")]);
    for command in ["steer", "follow_up"] {
        let sent = client.data(json!({"type": command, "message": "go"}));
        assert_eq!(sent["disposition"], "started", "{command}");
        client.until_type("agent_settled");
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

#[test]
fn a_running_prompt_is_steered_followed_and_aborted() {
    let slow = || Reply::text("a b c d").gate("on");
    let (server, _sandbox, mut client) =
        start(vec![slow(), Reply::text("two"), Reply::text("three")]);
    client.data(json!({"type": "prompt", "message": "one"}));
    client.until_type("turn_start");
    let refused = client.error(json!({"type": "prompt", "message": "again"}));
    assert!(refused.contains("streamingBehavior"), "{refused}");
    for (command, disposition) in [
        (json!({"type": "steer", "message": "steered"}), "queued"),
        (json!({"type": "follow_up", "message": "later"}), "queued"),
    ] {
        assert_eq!(client.data(command)["disposition"], disposition);
    }
    let cleared = client.data(json!({"type": "clear_queue"}));
    assert_eq!(
        cleared,
        json!({"steering": ["steered"], "followUp": ["later"]})
    );
    // What waits goes on after an abort, as in pi.
    let behavior = "followUp";
    client.data(json!({"type": "prompt", "message": "next", "streamingBehavior": behavior}));
    client.data(json!({"type": "abort"}));
    client.until(|record| record["type"] == "message_end" && record["message"]["role"] == "user");
    server.release("on");
    client.until_type("agent_settled");
    let text = client.data(json!({"type": "get_messages"})).to_string();
    assert!(text.contains("next") && !text.contains("steered"), "{text}");
    assert_eq!(client.end_by(Signal::SIGTERM), Some(143));
}

#[test]
fn a_question_is_a_dialog() {
    let push = || Reply::call("bash", json!({"command": "git push origin main"}));
    let ask = || {
        Reply::call(
            "ask_user",
            json!({"question": "Which?", "choices": ["a", "b"]}),
        )
    };
    let (_server, sandbox) =
        job::stage_with(vec![push(), push(), ask(), ask(), Reply::text("Done.")]);
    let sandbox = sandbox.with_default_mode();
    sandbox.git_init();
    let mut client = RpcClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    client.data(json!({"type": "prompt", "message": "push"}));
    let answers = [
        json!({"value": "No"}),
        json!({"value": "ask me tomorrow"}),
        json!({"value": "b"}),
        json!({"cancelled": true}),
    ];
    for mut answer in answers {
        let dialog = client.until_type("extension_ui_request");
        assert_eq!(dialog["method"], "select", "{dialog}");
        assert!(dialog["options"].as_array().unwrap().len() >= 2);
        answer["type"] = json!("extension_ui_response");
        answer["id"] = dialog["id"].clone();
        client.write(&answer.to_string());
    }
    client.until_type("agent_settled");
    let is_end = |record: &&Value| record["type"] == "tool_execution_end";
    let ends: Vec<String> = client
        .records
        .iter()
        .filter(is_end)
        .map(Value::to_string)
        .collect();
    for (end, words) in ends
        .iter()
        .zip(["denied this call", "ask me tomorrow", "b", ""])
    {
        assert!(end.contains(words), "{words}: {end}");
    }
    assert_eq!(ends.len(), 4);
}

#[test]
fn a_session_is_forked_cloned_left_and_opened_again() {
    let (_server, sandbox, mut client) = start(vec![Reply::text("one"), Reply::text("two")]);
    client.prompt("first");
    client.prompt("second");
    let file = client.data(json!({"type": "get_state"}))["sessionFile"].clone();
    let prompts = client.data(json!({"type": "get_fork_messages"}));
    let texts: Vec<&str> = prompts["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| text_of(message, "text"))
        .collect();
    assert_eq!(texts, ["first", "second"]);
    let entry = &prompts["messages"][1]["entryId"];
    let forked = client.data(json!({"type": "fork", "entryId": entry}));
    assert_eq!(forked, json!({"text": "second", "cancelled": false}));
    assert_ne!(
        client.data(json!({"type": "get_state"}))["sessionFile"],
        file
    );
    client.data(json!({"type": "clone"}));
    client.data(json!({"type": "new_session"}));
    let state = client.data(json!({"type": "get_state"}));
    assert_eq!(state["messageCount"], 0);
    let refused = client.error(json!({"type": "clone"}));
    assert!(refused.contains("no current entry"), "{refused}");
    let refused = client.error(json!({"type": "switch_session", "sessionPath": "none.jsonl"}));
    assert!(refused.contains("none.jsonl"), "{refused}");
    client.data(json!({"type": "switch_session", "sessionPath": file}));
    let messages = client.data(json!({"type": "get_messages"}));
    let roles: Vec<&str> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| text_of(message, "role"))
        .collect();
    assert_eq!(roles.iter().filter(|role| **role == "assistant").count(), 2);

    // The tree has every entry once, in the order of the file.
    let entries = client.data(json!({"type": "get_entries"}));
    let ids = |value: &Value| text_of(value, "id").to_owned();
    let flat: Vec<String> = entries["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(ids)
        .collect();
    let tree = client.data(json!({"type": "get_tree"}));
    let mut nested = Vec::new();
    let mut rest: Vec<&Value> = tree["tree"].as_array().unwrap().iter().collect();
    while let Some(node) = rest.pop() {
        nested.push(ids(&node["entry"]));
        rest.extend(node["children"].as_array().unwrap());
    }
    assert_eq!(nested, flat);
    assert_eq!(tree["leafId"], entries["leafId"]);
    let since = client.data(json!({"type": "get_entries", "since": flat[flat.len() - 3]}));
    assert_eq!(since["entries"].as_array().unwrap().len(), 2);
    let refused = client.error(json!({"type": "get_entries", "since": "nope"}));
    assert!(refused.contains("nope"), "{refused}");

    let page = client.data(json!({"type": "export_html", "outputPath": "page.html"}));
    assert!(text_of(&page, "path").ends_with("page.html"));
    assert!(sandbox.read("page.html").contains("second"));
}

#[test]
fn the_users_commands_reach_the_model_with_the_next_message() {
    let (server, _sandbox, mut client) = start(vec![Reply::text("ok")]);
    let ran = client.data(json!({"type": "bash", "command": "echo seen; exit 3"}));
    assert_eq!(
        (&ran["exitCode"], &ran["cancelled"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(text_of(&ran, "output").trim(), "seen");
    client.data(json!({
        "type": "bash", "command": "echo unmentioned", "excludeFromContext": true,
    }));
    let slow = client.send(json!({"type": "bash", "command": "echo begun; sleep 1000"}));
    client.until(|record| record["type"] == "bash_execution_update" && record["id"] == slow);
    let refused = client.error(json!({"type": "bash", "command": "true"}));
    assert!(refused.contains("abort_bash"), "{refused}");
    client.send(json!({"type": "abort_bash"}));
    assert_eq!(client.response(&slow)["data"]["cancelled"], true);
    client.prompt("go");
    let request = server.requests()[0].body.to_string();
    assert!(
        request.contains("seen") && request.contains("begun"),
        "{request}"
    );
    assert!(!request.contains("unmentioned"));
}

#[test]
fn models_levels_and_modes_can_be_changed() {
    let (_server, _sandbox, mut client) = start(vec![Reply::text("ok")]);
    let refused = client.error(json!({
        "type": "set_model", "provider": "nobody", "modelId": "none",
    }));
    assert!(refused.contains("nobody/none"), "{refused}");
    let model = Wire::Chat.model();
    let (provider, id) = model.split_once('/').unwrap();
    let refused = client.error(json!({
        "type": "set_model", "provider": "anthropic", "modelId": "claude-sonet-5-5",
    }));
    assert!(
        refused.contains("did you mean anthropic/claude-sonnet-5-5?"),
        "{refused}"
    );
    let set = client.data(json!({"type": "set_model", "provider": provider, "modelId": id}));
    assert_eq!(set["id"], id);
    client.data(json!({"type": "set_steering_mode", "mode": "one-at-a-time"}));
    client.data(json!({"type": "set_follow_up_mode", "mode": "all"}));
    client.data(json!({"type": "set_auto_compaction", "enabled": false}));
    client.data(json!({"type": "set_auto_retry", "enabled": false}));
    client.data(json!({"type": "set_thinking_level", "level": "high"}));
    client.data(json!({"type": "tiller_set_permission", "mode": "plan"}));
    client.data(json!({"type": "set_session_name", "name": " my name "}));
    let empty = client.error(json!({"type": "set_session_name", "name": " "}));
    assert!(empty.contains("empty"), "{empty}");
    let state = client.data(json!({"type": "get_state"}));
    for (key, value) in [
        ("steeringMode", json!("one-at-a-time")),
        ("followUpMode", json!("all")),
        ("autoCompactionEnabled", json!(false)),
        ("thinkingLevel", json!("high")),
        ("permissionMode", json!("plan")),
        ("sessionName", json!("my name")),
    ] {
        assert_eq!(state[key], value, "{key}");
    }
    let nothing = client.error(json!({"type": "compact"}));
    assert!(!nothing.is_empty());
}

#[test]
fn a_bad_line_is_an_error_and_disturbs_nothing() {
    let (_server, _sandbox, mut client) = start(vec![Reply::text("ok")]);
    for (line, words) in [
        ("{broken", "Failed to parse command"),
        ("[]", "expected an object"),
        (r#"{"type":"jump"}"#, "Unknown command: jump"),
        (r#"{"type":"prompt"}"#, "message"),
        (r#"{"type":"prompt","message":7}"#, "invalid type"),
        (r#"{"type":"prompt","message":" "}"#, "empty"),
        (
            r#"{"type":"prompt","message":"x","images":[{"data":"!","mimeType":"image/png"}]}"#,
            "images[0]",
        ),
    ] {
        client.write(line);
        let response = client.until_type("response");
        let error = text_of(&response, "error");
        assert!(error.contains(words), "{line}: {error}");
    }
    let long = "x".repeat(1024 * 1024 + 1);
    let refused = client.error(json!({"type": "prompt", "message": long}));
    assert!(refused.contains("longer than 1 MiB"), "{refused}");
    client.write(&"[".repeat(100_000));
    let response = client.until_type("response");
    assert!(
        text_of(&response, "error").contains("recursion"),
        "{response}"
    );
    // An answer to nothing says nothing.
    client.write(r#"{"type":"extension_ui_response","id":"none","value":"x"}"#);
    client.write(r#"{"type":"extension_ui_response"}"#);
    client.prompt("still there?");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_command_line_for_another_mode_is_refused() {
    let (_server, sandbox) = job::stage_with(Vec::new());
    let ran = sandbox.run(&["--mode", "rpc", "-m", Wire::Anthropic.model(), "hello"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("takes no prompt"), "{ran:?}");
}

/// The end of a run takes its processes along.
#[test]
fn the_end_of_stdin_ends_the_run() {
    let (_server, sandbox, mut client) =
        start(vec![Reply::call("bash", json!({"command": "sleep 1000"}))]);
    client.data(json!({"type": "prompt", "message": "wait"}));
    client.until_type("tool_execution_start");
    let pid = client.pid();
    assert_eq!(client.close(), Some(0));
    sandbox.wait_no_processes(&[pid]);
}

#[test]
fn an_answer_that_crosses_an_abort_starts_no_run() {
    let ask = Reply::call(
        "ask_user",
        json!({"question": "Which?", "choices": ["a", "b"]}),
    );
    let (server, _sandbox, mut client) = start(vec![ask]);
    client.data(json!({"type": "prompt", "message": "ask"}));
    let dialog = client.until_type("extension_ui_request");
    let answer = json!({"type": "extension_ui_response", "id": dialog["id"], "value": "in words"});
    client.write(&format!(
        "{}\n{answer}",
        json!({"type": "abort", "id": "stop"})
    ));
    client.response("stop");
    assert_eq!(
        client.data(json!({"type": "get_state"}))["isStreaming"],
        false
    );
    assert_eq!(
        client.data(json!({"type": "get_state"}))["isStreaming"],
        false
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_slash_command_waits_for_no_run_that_it_did_not_start() {
    let (server, _sandbox, mut client) = start(vec![Reply::text("a b").gate("on")]);
    client.data(json!({"type": "prompt", "message": "one"}));
    server.wait_gate("on");
    let named = client.data(json!({"type": "prompt", "message": "/name parser"}));
    assert_eq!(named["text"], "This session is now parser");
    server.release("on");
    client.until_type("agent_settled");
}

#[test]
fn half_a_surrogate_pair_does_not_lose_the_id() {
    let (server, _sandbox, mut client) = start(vec![Reply::text("ok")]);
    client.write(r#"{"id":"s","type":"prompt","message":"a\ud83d"}"#);
    assert_eq!(client.response("s")["success"], true);
    client.until_type("agent_settled");
    assert_eq!(server.request(0).last_user(), "a\u{fffd}");
}

#[test]
fn a_question_shows_every_file_that_one_yes_would_change() {
    let patch = "*** Begin Patch\n*** Add File: notes.txt\n+hello\n*** Add File: /opt/profile.txt\n\
        +harm\n*** End Patch";
    let replies = vec![
        Reply::call("apply_patch", json!({"patch": patch})),
        Reply::text("Denied."),
    ];
    let (_server, sandbox) = job::stage_with(replies);
    let arguments = ["-m", Wire::Anthropic.model(), "--permission", "ask"];
    let mut client = RpcClient::start(&sandbox, &arguments);
    client.data(json!({"type": "prompt", "message": "note it"}));
    let dialog = client.until_type("extension_ui_request");
    let title = dialog["title"].as_str().unwrap();
    for part in [
        "/opt/profile.txt is outside the workspace; ask mode asks",
        "\nnotes.txt\n+1 hello\n",
        "/opt/profile.txt\n+1 harm",
    ] {
        assert!(title.contains(part), "{part}: {title}");
    }
    let rule = dialog["options"][1].as_str().unwrap();
    assert!(
        rule.contains("/opt/profile.txt, changes in ./notes.txt"),
        "{rule}"
    );
    let answer = json!({"type": "extension_ui_response", "id": dialog["id"], "value": "No"});
    client.write(&answer.to_string());
    client.until_type("agent_settled");
    assert!(!sandbox.path().join("notes.txt").exists());
}
