//! JSON mode, end to end: the record shapes that programs written for pi rely on.

use serde_json::{Value, json};

use crate::support::job;
use crate::support::model_server::{Failure, Reply, Usage, Wire};

fn kinds(records: &[Value]) -> Vec<String> {
    let mut kinds: Vec<String> = records
        .iter()
        .map(|record| record["type"].as_str().unwrap().to_owned())
        .collect();
    kinds.dedup();
    kinds
}

/// Checks the order of a whole job's records: starts and ends match, and sequence numbers rise.
#[test]
fn json_records_of_the_main_job_come_in_order() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage();
        let ran = sandbox.run(&["--mode", "json", "-m", wire.model(), job::PROMPT]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let records = ran.records();

        let header = &records[0];
        assert_eq!(header["type"], "session");
        assert_eq!(header["version"], 3);
        assert_eq!(header["cwd"], sandbox.path().display().to_string());
        assert!(header["timestamp"].as_str().unwrap().ends_with('Z'));
        assert_eq!(
            sandbox.session()[0],
            *header,
            "the session file must have the same header"
        );

        let first = [
            "session",
            "agent_start",
            "turn_start",
            "message_start",
            "message_end",
        ];
        assert_eq!(kinds(&records)[..5], first);
        assert_eq!(records[records.len() - 1]["type"], "agent_settled");
        assert_eq!(records[records.len() - 1]["aborted"], false);
        let end = &records[records.len() - 2];
        assert_eq!(end["type"], "agent_end");
        assert_eq!(end["willRetry"], false);
        assert_eq!(end["messages"].as_array().unwrap().len(), 10);

        let count = |kind: &str| records.iter().filter(|it| it["type"] == kind).count();
        for (start, stop, expected) in [
            ("agent_start", "agent_end", 1),
            ("turn_start", "turn_end", 4),
            ("message_start", "message_end", 10),
            ("tool_execution_start", "tool_execution_end", 5),
        ] {
            assert_eq!((count(start), count(stop)), (expected, expected), "{start}");
        }
        let numbers: Vec<u64> = records[1..]
            .iter()
            .map(|it| it["seq"].as_u64().unwrap())
            .collect();
        assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
        assert!(records[1..].iter().all(|record| record["time"].is_number()));
    }
}

/// Checks a whole run record by record. The types come in the order of pi's docs/json.md. Each
/// record has the fields it must have and none it must not have.
#[test]
fn every_record_of_a_run_has_its_required_fields() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage_with(vec![
            Reply::text("Look.")
                .and_call("ls", json!({}))
                .and_call("grep", json!({"pattern": "fn add"}))
                .and_call("bash", json!({"command": "true"})),
            Reply::text("Done."),
        ]);
        let ran = sandbox.run(&["--mode", "json", "-m", wire.model(), "go"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let mut told: Vec<String> = Vec::new();
        for record in &ran.records() {
            let line = one_line(record);
            // Other tests count the deltas; progress is optional.
            if !line.starts_with("tool_execution_update") && told.last() != Some(&line) {
                told.push(line);
            }
        }
        // The two read-only calls may end in any order, each with its result.
        let ends = told
            .iter()
            .position(|it| it.starts_with("tool_execution_end"));
        let ends = ends.unwrap();
        told[ends..ends + 6].sort_by_key(|it| it.ends_with("ls"));
        let begun =
            |name| format!("message_update toolcall_start {name}\nmessage_update toolcall_delta\n");
        let ended = |name| format!("message_update toolcall_end {name}\n");
        let names = ["ls", "grep", "bash"];
        let calls: String = match wire {
            Wire::Anthropic | Wire::Responses | Wire::Google => {
                names.map(|name| begun(name) + &ended(name)).concat()
            }
            // This wire says where a call begins, but not where it ends.
            Wire::Chat => names.map(begun).concat() + &names.map(ended).concat(),
        };
        let calls = calls.trim_end();
        let expected = format!(
            "\
            session\n\
            agent_start\n\
            turn_start\n\
            message_start user\n\
            message_end user\n\
            message_start assistant\n\
            message_update text_start\n\
            message_update text_delta\n\
            message_update text_end\n\
            {calls}\n\
            message_end assistant\n\
            tool_execution_start ls\n\
            tool_execution_start grep\n\
            tool_execution_end grep\n\
            message_start toolResult grep\n\
            message_end toolResult grep\n\
            tool_execution_end ls\n\
            message_start toolResult ls\n\
            message_end toolResult ls\n\
            tool_execution_start bash\n\
            tool_execution_end bash\n\
            message_start toolResult bash\n\
            message_end toolResult bash\n\
            turn_end assistant 3\n\
            turn_start\n\
            message_start assistant\n\
            message_update text_start\n\
            message_update text_delta\n\
            message_update text_end\n\
            message_end assistant\n\
            turn_end assistant 0\n\
            agent_end 6 done\n\
            agent_settled"
        );
        assert_eq!(told.join("\n"), expected, "{wire:?}");
    }
}

#[test]
fn a_damaged_call_names_its_file() {
    let call = Reply::default().call_text("edit", "{\"file_path\": \"a,b.rs\", \"old_te");
    let (_server, sandbox) = job::stage_with(vec![call, Reply::text("ok")]);
    let ran = sandbox.run(&["--mode", "json", "-m", Wire::Anthropic.model(), "go"]);
    let records = ran.records();
    let is_end = |record: &&Value| record["type"] == "tool_execution_end";
    let result = &records.iter().find(is_end).unwrap()["result"];
    assert_eq!(result["details"]["path"], "a,b.rs", "{result}");
}

/// On stdout as in the file of `--events`.
#[test]
fn the_end_of_a_run_says_why_it_ended() {
    let ls = || {
        let usage = Usage {
            output: 1_000_000,
            ..Usage::default()
        };
        vec![Reply::call("ls", json!({})).usage(usage).repeat()]
    };
    let bash = |command: &str| {
        let call = Reply::call("bash", json!({"command": command}));
        vec![call, Reply::text("ok")]
    };
    let deny = "permission.rules=[{tool=\"bash\",prefix=[\"make\"],action=\"deny\"}]";
    for (replies, flag, value, code, outcome) in [
        (vec![Reply::text("ok")], "--tools", "all", 0, "done"),
        (ls(), "--budget-usd", "0.5", 1, "budget_reached"),
        (ls(), "--max-iterations", "2", 1, "limit_reached"),
        (bash("sleep 1000"), "--timeout", "2", 124, "timed_out"),
        (bash("make all"), "--config", deny, 3, "refused"),
        (bash("make all"), "--permission", "ask", 3, "refused"),
        (
            vec![Reply::error(Failure::Auth)],
            "--tools",
            "all",
            1,
            "failed",
        ),
    ] {
        let (_server, sandbox) = job::stage_with(replies);
        let events = sandbox.path().join("events").display().to_string();
        let model = Wire::Anthropic.model();
        let args = ["--mode", "json", "-m", model, "--events", &events];
        let ran = sandbox.run(&[&args[..], &[flag, value, "go"]].concat());
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let is_end = |record: &&Value| record["type"] == "agent_end";
        let end = ran.records().iter().find(is_end).unwrap().clone();
        assert_eq!(end["outcome"], outcome, "{ran:#?}");
        if outcome == "refused" && value == deny {
            let ended = |it: &&Value| it["type"] == "tool_execution_end";
            let ended = ran.records().into_iter().find(|it| ended(&it)).unwrap();
            assert_eq!(ended["rule"], "deny bash \"make\" (--config)", "{ended}");
        }
        let written = sandbox.read("events");
        let written = written.lines().map(|it| serde_json::from_str(it).unwrap());
        let written: Vec<Value> = written.collect();
        assert_eq!(*written.iter().find(is_end).unwrap(), end);
    }
}

/// Checks the form of a record and returns it as one line.
fn one_line(record: &Value) -> String {
    let kind = record["type"].as_str().unwrap();
    let keys: Vec<&str> = record
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|key| !["type", "seq", "time"].contains(key))
        .collect();
    let (expected, rest): (&[&str], String) = match kind {
        "session" => (&["version", "id", "timestamp", "cwd"], String::new()),
        "agent_start" => (&["run"], String::new()),
        "turn_start" => (&[], String::new()),
        "message_start" | "message_end" => {
            let message = &record["message"];
            let role = message["role"].as_str().unwrap();
            let tool = message["toolName"].as_str().unwrap_or_default();
            (&["message"], format!("{role} {tool}"))
        }
        "message_update" => {
            let event = &record["assistantMessageEvent"];
            assert!(event.get("partial").is_none() && event["contentIndex"].is_u64());
            let name = [&event["toolName"], &event["toolCall"]["name"]];
            let name = name.into_iter().find_map(Value::as_str).unwrap_or_default();
            let step = event["type"].as_str().unwrap();
            (
                &["usage", "assistantMessageEvent"],
                format!("{step} {name}"),
            )
        }
        "tool_execution_start" => (&["toolCallId", "toolName", "args"], tool_of(record)),
        "tool_execution_update" => (
            &["toolCallId", "toolName", "args", "partialResult"],
            tool_of(record),
        ),
        "tool_execution_end" => {
            assert!(record["isError"].is_boolean() && record["durationMs"].is_u64());
            let form = &["toolCallId", "toolName", "result", "isError", "durationMs"];
            (form, tool_of(record))
        }
        "turn_end" => {
            let results = record["toolResults"].as_array().unwrap().len();
            (&["message", "toolResults"], format!("assistant {results}"))
        }
        "agent_end" => {
            let messages = record["messages"].as_array().unwrap().len();
            let outcome = record["outcome"].as_str().unwrap();
            let form = &["messages", "willRetry", "outcome", "run"];
            (form, format!("{messages} {outcome}"))
        }
        "agent_settled" => (&["aborted"], String::new()),
        other => panic!("unexpected record: {other}"),
    };
    let (mut keys, mut expected) = (keys, expected.to_vec());
    keys.sort_unstable();
    expected.sort_unstable();
    assert_eq!(keys, expected, "{record}");
    format!("{kind} {rest}").trim_end().to_owned()
}

fn tool_of(record: &Value) -> String {
    record["toolName"].as_str().unwrap().to_owned()
}

#[test]
fn deltas_add_up_to_the_final_message() {
    for wire in Wire::ALL {
        let (_server, sandbox) = job::stage();
        let ran = sandbox.run(&["--mode", "json", "-m", wire.model(), job::PROMPT]);
        let mut text = String::new();
        let mut thinking = String::new();
        let mut starts = Vec::new();
        for record in ran.records() {
            let event = &record["assistantMessageEvent"];
            let delta = event["delta"].as_str().unwrap_or_default();
            match event["type"].as_str() {
                Some("text_delta") => text.push_str(delta),
                Some("thinking_delta") => thinking.push_str(delta),
                Some("text_end") => assert_eq!(event["content"], text.as_str()),
                Some("toolcall_start") => starts.push(event["toolName"].clone()),
                Some("toolcall_end") => {
                    assert!(event["toolCall"]["arguments"].is_object(), "{event}");
                    assert!(
                        record.get("message").is_none(),
                        "the record must not repeat the message"
                    );
                }
                _ => {}
            }
            if record["type"] == "message_end" && record["message"]["role"] == "assistant" {
                break;
            }
        }
        assert_eq!(text, "I look around first: größe 日本 🦀.", "{wire:?}");
        assert_eq!(thinking, "Where is the addition?");
        assert_eq!(starts, ["grep", "read", "ls"]);
    }
}

#[test]
fn tool_records_have_pis_shape() {
    let (_server, sandbox) = job::stage();
    let ran = sandbox.run(&["--mode", "json", "-m", Wire::Anthropic.model(), job::PROMPT]);
    let records = ran.records();
    let of = |kind: &str, tool: &str| -> Value {
        let found = records
            .iter()
            .find(|it| it["type"] == kind && it["toolName"] == tool);
        found
            .unwrap_or_else(|| panic!("no {kind} of {tool}"))
            .clone()
    };
    let start = of("tool_execution_start", "edit");
    assert_eq!(start["args"]["new_text"], "a + b");
    let end = of("tool_execution_end", "edit");
    assert_eq!(end["toolCallId"], start["toolCallId"]);
    assert_eq!(end["isError"], false);
    assert!(end["durationMs"].is_u64(), "{end}");
    let text = end["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Successfully edited"), "{text}");
    assert!(end["result"]["details"]["diff"].is_string());
}

#[test]
fn a_failed_run_says_so_in_its_records() {
    let (_server, sandbox) = job::stage_with(vec![Reply::error(Failure::Auth)]);
    let ran = sandbox.run(&["--mode", "json", "-m", Wire::Chat.model(), "hi"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let records = ran.records();
    let end = records
        .iter()
        .rfind(|it| it["type"] == "message_end")
        .unwrap();
    assert_eq!(end["message"]["stopReason"], "error");
    assert!(
        end["message"]["errorMessage"]
            .as_str()
            .unwrap()
            .contains("401")
    );
    assert!(!ran.stderr.is_empty(), "the reason is on stderr as well");
}

#[test]
fn every_retry_is_a_record() {
    let run = |replies: Vec<Reply>, max: &str| {
        let (_server, sandbox) = job::stage_with(replies);
        let max = format!("retry.max={max}");
        let ran = sandbox.run(&[
            "--mode",
            "json",
            "-m",
            Wire::Chat.model(),
            "--config",
            "retry.base_ms=2",
            "--config",
            "retry.jitter=false",
            "--config",
            &max,
            "hi",
        ]);
        let records = ran.records().into_iter();
        records
            .filter(|it| {
                it["type"]
                    .as_str()
                    .is_some_and(|kind| kind.starts_with("auto_retry"))
            })
            .collect::<Vec<_>>()
    };
    let busy = || Reply::error(Failure::Overloaded);
    let records = run(vec![busy(), busy(), Reply::text("ok")], "3");
    assert_eq!(records.len(), 3, "{records:#?}");
    for (at, delay) in [(0, 2), (1, 4)] {
        let start = &records[at];
        assert_eq!(start["type"], "auto_retry_start");
        assert_eq!(start["attempt"], at + 1);
        assert_eq!(start["maxAttempts"], 3);
        assert_eq!(start["delayMs"], delay);
        assert!(
            start["errorMessage"]
                .as_str()
                .unwrap()
                .contains("overloaded")
        );
        assert!(start["seq"].is_u64() && start["time"].is_i64());
    }
    assert_eq!(records[2]["type"], "auto_retry_end");
    assert_eq!(records[2]["success"], true);
    assert_eq!(records[2]["attempt"], 2);
    assert!(records[2]["finalError"].is_null());

    let records = run(vec![busy(), busy()], "1");
    let end = records.last().unwrap();
    assert_eq!(end["success"], false);
    assert!(
        end["finalError"]
            .as_str()
            .unwrap()
            .contains("tried 2 times")
    );
}
