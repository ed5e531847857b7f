//! `tiller acp`, end to end: what an editor sends, and what it gets.

use serde_json::{Value, json};

use crate::support::acp::{AcpClient, text_of};
use crate::support::job;
use crate::support::model_server::{ModelServer, Reply, Wire};
use crate::support::rpc::RpcClient;
use crate::support::sandbox::Sandbox;

fn start(replies: Vec<Reply>) -> (ModelServer, Sandbox, AcpClient) {
    let (server, sandbox) = job::stage_with(replies);
    let client = AcpClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    (server, sandbox, client)
}

fn of_kind<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let wanted = updates.iter().filter(|it| it["sessionUpdate"] == kind);
    wanted.collect()
}

#[test]
fn the_main_job_is_shown_and_loads_again() {
    let (_server, sandbox) = job::stage();
    let arguments = ["-m", Wire::Anthropic.model()];
    let mut client = AcpClient::start(&sandbox, &arguments);
    let session = client.new_session(&sandbox);
    let (reason, updates) = client.prompt(&session, job::PROMPT);
    assert_eq!(reason, "end_turn");
    assert_eq!(sandbox.read("src/math.rs"), job::AFTER);
    assert!(text_of(&updates, "agent_message_chunk").ends_with(job::ANSWER));
    let thought = text_of(&updates, "agent_thought_chunk");
    assert_eq!(thought, "Where is the addition?");
    assert!(of_kind(&updates, "user_message_chunk").is_empty());
    let calls = of_kind(&updates, "tool_call");
    let kinds: Vec<&str> = calls
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["search", "read", "search", "edit", "execute"]);
    let ended = of_kind(&updates, "tool_call_update");
    let edit = ended.iter().rfind(|it| it["kind"] == "edit").unwrap();
    assert_eq!(edit["status"], "completed");
    let path = sandbox.path().join("src/math.rs");
    assert_eq!(edit["locations"], json!([{"path": path, "line": 2}]));
    let diff = json!([
        {"type": "diff", "path": path, "oldText": job::BEFORE, "newText": job::AFTER},
    ]);
    assert_eq!(edit["content"], diff);
    let command = ended.iter().rfind(|it| it["kind"] == "execute").unwrap();
    let output = &command["content"][0]["content"]["text"];
    assert!(output.as_str().unwrap().contains("tested"), "{command}");
    assert!(!of_kind(&updates, "usage_update").is_empty());
    let listed = client.result("session/list", json!({"cwd": sandbox.path()}));
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert_eq!(listed["sessions"][0]["title"], job::PROMPT);
    assert_eq!(client.close(), Some(0));

    let mut client = AcpClient::start(&sandbox, &arguments);
    let params = json!({"sessionId": session, "cwd": sandbox.path(), "mcpServers": []});
    let loaded = client.result("session/load", params.clone());
    assert_eq!(loaded["modes"]["currentModeId"], "full");
    let replayed = client.updates(0, &session);
    assert_eq!(text_of(&replayed, "user_message_chunk"), job::PROMPT);
    assert_eq!(text_of(&replayed, "agent_thought_chunk"), thought);
    let answer = text_of(&replayed, "agent_message_chunk");
    assert_eq!(answer, text_of(&updates, "agent_message_chunk"));
    assert_eq!(of_kind(&replayed, "tool_call").len(), 5);
    let ended = of_kind(&replayed, "tool_call_update");
    assert!(ended.iter().any(|it| it["content"] == diff), "{ended:#?}");
    // A session that is open here is shown again.
    client.result("session/load", params);
    client.result("session/close", json!({"sessionId": session}));
    let (code, _) = client.error("session/close", json!({"sessionId": session}));
    assert_eq!(code, -32002);
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_prompt_of_another_client_is_shown() {
    let replies = ["One.", "Two.", "Three."].map(Reply::text);
    let (_server, sandbox, mut client) = start(replies.into());
    let session = client.new_session(&sandbox);
    let (_, updates) = client.prompt(&session, "here");
    assert!(of_kind(&updates, "user_message_chunk").is_empty());
    let mut other = RpcClient::attach(&sandbox);
    other.prompt("from elsewhere");
    let shown = client.until_update("user_message_chunk");
    assert_eq!(shown["content"]["text"], "from elsewhere");
    client.until_update("agent_message_chunk");
    let (_, updates) = client.prompt(&session, "here again");
    assert!(of_kind(&updates, "user_message_chunk").is_empty());
}

#[test]
fn a_prompt_carries_files_and_pictures() {
    let (server, sandbox, mut client) = start(vec![Reply::text("ok")]);
    let session = client.new_session(&sandbox);
    let uri = |path: &str| format!("file://{}", sandbox.path().join(path).display());
    // One white pixel.
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC";
    let prompt = json!([
        {"type": "text", "text": "See "},
        {"type": "resource_link", "uri": uri("src/math.rs"), "name": "math.rs"},
        {"type": "text", "text": " and "},
        {"type": "resource", "resource": {"uri": uri("unsaved.rs"), "text": "fn unsaved() {}"}},
        {"type": "image", "data": pixel, "mimeType": "image/png"},
    ]);
    let params = json!({"sessionId": session, "prompt": prompt});
    let ended = client.result("session/prompt", params);
    assert_eq!(ended["stopReason"], "end_turn");
    let request = server.requests()[0].body.to_string();
    for part in [
        "See @src/math.rs and @unsaved.rs",
        "a - b",
        "fn unsaved() {}",
        "image/png",
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
}

#[test]
fn permission_is_asked_and_answered() {
    let push = || Reply::call("bash", json!({"command": "git push origin main"}));
    let choose = Reply::call(
        "ask_user",
        json!({"question": "Which?", "choices": ["red", "blue"]}),
    );
    let ask = Reply::call("ask_user", json!({"question": "Why?"}));
    let replies = vec![push(), push(), choose, ask, Reply::text("Done.")];
    let (_server, sandbox) = job::stage_with(replies);
    let sandbox = sandbox.with_default_mode();
    sandbox.git_init();
    let mut client = AcpClient::start(&sandbox, &["-m", Wire::Anthropic.model()]);
    let session = client.new_session(&sandbox);
    let id = client.send_prompt(&session, "push");
    for (option, kinds, title) in [
        ("no", &["allow_once", "reject_once"][..], "git push"),
        ("once", &["allow_once", "reject_once"], "git push"),
        ("1", &["allow_once", "allow_once", "reject_once"], "Which?"),
        ("later", &["reject_once"], "Why?"),
    ] {
        let asked = client.permit(option);
        let shown = asked["toolCall"]["title"].as_str().unwrap();
        assert!(shown.contains(title), "{asked}");
        let options = asked["options"].as_array().unwrap();
        let mut offered: Vec<&str> = options
            .iter()
            .map(|option| option["kind"].as_str().unwrap())
            .collect();
        offered.retain(|kind| *kind != "allow_always");
        assert_eq!(offered, kinds, "{asked}");
    }
    let response = client.response(id);
    assert_eq!(response["result"]["stopReason"], "end_turn", "{response}");
    let messages = sandbox.session_messages();
    let results = messages.iter().filter(|it| it["role"] == "toolResult");
    let results: Vec<String> = results.map(Value::to_string).collect();
    for (result, part) in results
        .iter()
        .zip(["denied this call", "", "blue", "next message"])
    {
        assert!(result.contains(part), "{part}: {result}");
    }
    assert_eq!(results.len(), 4);
}

#[test]
fn a_client_with_forms_answers_questions_in_words() {
    let question = |text: &str, choices: Value| {
        Reply::call("ask_user", json!({"question": text, "choices": choices}))
    };
    let replies = vec![
        question("Which?", json!(["red", "blue"])),
        question("Really?", json!(["yes"])),
        question("Sure?", json!(["yes"])),
        Reply::text("Done."),
    ];
    let (_server, sandbox, mut client) = start(replies);
    let capabilities = json!({"elicitation": {"form": {}}});
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.result("initialize", params);
    let session = client.new_session(&sandbox);
    let id = client.send_prompt(&session, "ask me");
    for (message, result) in [
        (
            "Which?",
            json!({"action": "accept", "content": {"choice": "blue"}}),
        ),
        (
            "Really?",
            json!({"action": "accept", "content": {"choice": "yes", "text": "green after all"}}),
        ),
        ("Sure?", json!({"action": "decline"})),
    ] {
        let form = client.until(|record| record["method"] == "elicitation/create");
        let params = &form["params"];
        assert_eq!(params["message"], message);
        assert_eq!(
            (&params["mode"], &params["sessionId"]),
            (&json!("form"), &json!(session))
        );
        let answer = json!({"jsonrpc": "2.0", "id": form["id"], "result": result});
        client.write(&answer.to_string());
    }
    assert_eq!(client.response(id)["result"]["stopReason"], "end_turn");
    let messages = sandbox.session_messages();
    let results = messages.iter().filter(|it| it["role"] == "toolResult");
    let results: Vec<String> = results.map(Value::to_string).collect();
    assert!(results[0].contains("blue") && results[1].contains("green after all"));
    assert!(!results[2].contains("yes"), "{}", results[2]);
}

#[test]
fn a_request_can_be_cancelled_and_a_session_deleted() {
    let sleep = Reply::call("bash", json!({"command": "sleep 1000"}));
    let (_server, sandbox, mut client) = start(vec![sleep]);
    let session = client.new_session(&sandbox);
    let id = client.send_prompt(&session, "wait");
    client.until_update("tool_call");
    client.notify("$/cancel_request", json!({"requestId": 999}));
    client.notify("$/cancel_request", json!({"requestId": id}));
    assert_eq!(client.response(id)["result"]["stopReason"], "cancelled");
    let to_session = json!({"sessionId": session});
    client.result("session/delete", to_session.clone());
    let listed = client.result("session/list", json!({"cwd": sandbox.path()}));
    assert_eq!(listed["sessions"], json!([]));
    assert_eq!(client.error("session/delete", to_session).0, -32002);
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_cancelled_prompt_says_so_and_leaves_no_process() {
    let sleep = Reply::call("bash", json!({"command": "sleep 1000"}));
    let (_server, sandbox, mut client) = start(vec![sleep, Reply::text("again")]);
    let session = client.new_session(&sandbox);
    let id = client.send_prompt(&session, "wait");
    client.until_update("tool_call");
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "two"}]});
    let (code, message) = client.error("session/prompt", params);
    assert_eq!(code, -32600);
    assert!(message.contains("running"), "{message}");
    client.notify("session/cancel", json!({"sessionId": session}));
    let response = client.response(id);
    assert_eq!(response["result"]["stopReason"], "cancelled", "{response}");
    sandbox.wait_no_processes(&[client.pid()]);
    let (reason, updates) = client.prompt(&session, "go on");
    assert_eq!(reason, "end_turn");
    assert_eq!(text_of(&updates, "agent_message_chunk"), "again");
}

#[test]
fn a_prompt_says_why_it_ended() {
    let call = || Reply::call("ls", json!({}));
    let (_server, sandbox) = job::stage_with(vec![
        Reply::text("cut").stop("max_tokens"),
        call(),
        Reply::text("go on").stop("refusal"),
        Reply::text("fine"),
    ]);
    let limit = "agent.max_iterations=1";
    let arguments = ["-m", Wire::Anthropic.model(), "--config", limit];
    let mut client = AcpClient::start(&sandbox, &arguments);
    let session = client.new_session(&sandbox);
    for reason in ["max_tokens", "max_turn_requests", "refusal", "end_turn"] {
        let (ended, updates) = client.prompt(&session, "go");
        assert_eq!(ended, reason, "{updates:#?}");
    }
}

#[test]
fn a_failed_call_is_an_error_of_its_prompt() {
    let failure = Reply::http(
        400,
        "application/json",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"no such thing"}}"#,
    );
    let (_server, sandbox, mut client) = start(vec![failure, Reply::text("fine")]);
    let session = client.new_session(&sandbox);
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]});
    let (code, message) = client.error("session/prompt", params);
    assert_eq!(code, -32603);
    assert!(message.contains("no such thing"), "{message}");
    assert_eq!(client.prompt(&session, "again").0, "end_turn");
}

#[test]
fn mode_model_and_thinking_are_selected() {
    let todo = Reply::call(
        "todo",
        json!({"todos": [{"content": "look", "status": "in_progress"}]}),
    );
    let (_server, sandbox, mut client) = start(vec![todo, Reply::text("ok")]);
    let params = json!({"cwd": sandbox.path(), "mcpServers": []});
    let opened = client.result("session/new", params);
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let ids = |options: &Value| -> Vec<Value> {
        let options = options.as_array().unwrap().iter();
        options.map(|it| it["currentValue"].clone()).collect()
    };
    assert_eq!(ids(&opened["configOptions"])[1], Wire::Anthropic.model());
    client.result(
        "session/set_mode",
        json!({"sessionId": session, "modeId": "plan"}),
    );
    let mode = client.until_update("current_mode_update");
    assert_eq!(mode["currentModeId"], "plan");
    let select =
        |id: &str, value: &str| json!({"sessionId": session, "configId": id, "value": value});
    client.result("session/set_config_option", select("thinking", "high"));
    let model = Wire::Chat.model();
    let set = client.result("session/set_config_option", select("model", model));
    assert_eq!(ids(&set["configOptions"])[..2], ["plan", model]);
    for bad in [
        select("model", "no/such"),
        select("mode", "wild"),
        select("color", "red"),
    ] {
        assert_eq!(client.error("session/set_config_option", bad).0, -32602);
    }
    let (_, updates) = client.prompt(&session, "plan it");
    let plan = of_kind(&updates, "plan");
    assert_eq!(plan[0]["entries"][0]["content"], "look");
    assert_eq!(plan[0]["entries"][0]["status"], "in_progress");
}

#[test]
fn sessions_work_side_by_side_in_their_folders() {
    let slow = Reply::text("slow answer").gate("on");
    let (server, sandbox, mut client) = start(vec![slow, Reply::text("quick answer")]);
    sandbox.write("below/file", "");
    let first = client.new_session(&sandbox);
    let below = sandbox.path().join("below");
    let second = client.result("session/new", json!({"cwd": below, "mcpServers": []}));
    let second = second["sessionId"].as_str().unwrap().to_owned();
    let waiting = client.send_prompt(&first, "one");
    server.wait_requests(1);
    let (reason, updates) = client.prompt(&second, "two");
    assert_eq!(reason, "end_turn");
    assert_eq!(text_of(&updates, "agent_message_chunk"), "quick answer");
    server.release("on");
    let response = client.response(waiting);
    assert_eq!(response["result"]["stopReason"], "end_turn");
    let listed = client.result("session/list", json!({"cwd": below}));
    assert_eq!(listed["sessions"][0]["sessionId"], second.as_str());
    assert_eq!(client.close(), Some(0));
}

#[test]
fn a_bad_message_is_a_typed_error_and_disturbs_nothing() {
    let (_server, sandbox, mut client) = start(vec![Reply::text("ok")]);
    for (line, code) in [
        ("{broken", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"jump"}"#, -32601),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"session/new"}"#,
            -32602,
        ),
    ] {
        client.write(line);
        let response = client.until(|record| record.get("error").is_some());
        assert_eq!(response["error"]["code"], code, "{line}");
    }
    for (method, params, code) in [
        (
            "session/new",
            json!({"cwd": "relative", "mcpServers": []}),
            -32602,
        ),
        (
            "session/new",
            json!({"cwd": "/no/such", "mcpServers": []}),
            -32602,
        ),
        (
            "session/prompt",
            json!({"sessionId": "none", "prompt": []}),
            -32002,
        ),
        (
            "session/load",
            json!({"sessionId": "none", "cwd": sandbox.path(), "mcpServers": []}),
            -32002,
        ),
    ] {
        assert_eq!(client.error(method, params.clone()).0, code, "{params}");
    }
    // Answers to nothing, and a cancel of nothing.
    client.write(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    client.notify("session/cancel", json!({"sessionId": "none"}));
    let session = client.new_session(&sandbox);
    let empty = json!({"sessionId": session, "prompt": [{"type": "text", "text": " "}]});
    assert_eq!(client.error("session/prompt", empty).0, -32602);
    let sound = json!({"sessionId": session, "prompt": [{"type": "audio", "data": ""}]});
    assert_eq!(client.error("session/prompt", sound).0, -32602);
    assert_eq!(client.prompt(&session, "still there?").0, "end_turn");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn without_a_key_the_session_says_what_to_do() {
    let sandbox = Sandbox::new();
    let mut client = AcpClient::start(&sandbox, &[]);
    let params = json!({"cwd": sandbox.path(), "mcpServers": []});
    let (code, message) = client.error("session/new", params);
    assert_eq!(code, -32000);
    assert!(message.contains("tiller auth add"), "{message}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn the_end_of_stdin_ends_all_sessions() {
    let sleep = Reply::call("bash", json!({"command": "sleep 1000"}));
    let (_server, sandbox, mut client) = start(vec![sleep]);
    let session = client.new_session(&sandbox);
    client.send_prompt(&session, "wait");
    client.until_update("tool_call");
    let pid = client.pid();
    assert_eq!(client.close(), Some(0));
    sandbox.wait_no_processes(&[pid]);
}
