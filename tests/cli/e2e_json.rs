//! JSON mode, end to end: the record shapes that programs written for pi rely on.

use serde_json::Value;

use crate::support::job;
use crate::support::model_server::{Failure, Reply, Wire};

fn kinds(records: &[Value]) -> Vec<String> {
    let mut kinds: Vec<String> = records
        .iter()
        .map(|record| record["type"].as_str().unwrap().to_owned())
        .collect();
    kinds.dedup();
    kinds
}

/// E1, E3: the order of a whole job, brackets closed, numbers rising.
#[test]
fn the_main_job_as_records() {
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
            "the file has the same header"
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

#[test]
fn deltas_add_up_to_the_end() {
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
                    assert!(record.get("message").is_none(), "delta-only");
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
