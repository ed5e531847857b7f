//! The events of runs as the session stores them, and the iterations read from them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tiller::agent::session::{IterationSummary, SessionView};
use tiller::agent::{AgentEvent, CompactionRules, LoopRules, RetryRules, RunOutcome, ToolStatus};
use tiller::llm::{ErrorClass, LlmError, StreamEvent};

use super::fixture::{Act, Setup, Step, TestAgent, call, say};

fn fail(class: ErrorClass) -> Vec<Step> {
    vec![Step::Say(StreamEvent::Error(LlmError::new(class, "no")))]
}

/// A retry, two tool calls of which one fails, a compaction, and a run that fails.
async fn run() -> TestAgent {
    let mut agent = Setup {
        answers: vec![
            fail(ErrorClass::Retryable),
            call(&[("c1", "good", json!({})), ("c2", "bad", json!({}))]),
            say("done"),
            say("and more"),
            say("the summary"),
            fail(ErrorClass::Client),
        ],
        tools: vec![
            ("good", true, Act::Succeed("fine".into())),
            ("bad", true, Act::Fail("broken".into())),
        ],
        rules: LoopRules {
            retry: RetryRules {
                max: 1,
                base_ms: 1,
                ..RetryRules::default()
            },
            compaction: CompactionRules {
                keep_recent_tokens: 1,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    agent.settled().await;
    agent.prompt("On");
    agent.settled().await;
    agent.handle.compact(None);
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    agent.prompt("Fail");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    agent
}

#[tokio::test]
async fn the_session_stores_every_event_of_a_run() {
    let agent = run().await;
    let entries = agent.entries();
    let events = || {
        entries
            .iter()
            .filter(|it| it["customType"] == "tiller.event")
    };
    let kinds: BTreeSet<&str> = events()
        .filter_map(|it| it["data"]["event"].as_str())
        .collect();
    let expected = [
        "agent_end",
        "agent_start",
        "api_call_end",
        "api_call_start",
        "compaction_complete",
        "compaction_triggered",
        "error",
        "retry",
        "tool_call_end",
        "tool_call_start",
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
    let ends = events().filter(|it| it["data"]["event"] == "tool_call_end");
    let ends = ends.map(|it| json!([it["data"]["toolCallId"], it["data"]["isError"]]));
    let mut ends: Vec<Value> = ends.collect();
    // Whichever of the two ends first.
    ends.sort_by_key(Value::to_string);
    assert_eq!(ends, [json!(["c1", false]), json!(["c2", true])]);
    // They are short and don't repeat the messages beside them.
    for event in events() {
        assert!(event.to_string().len() < 330, "{event}");
    }
}

#[tokio::test]
async fn an_iteration_by_number_equals_its_entry_in_the_list() {
    let agent = run().await;
    let view = SessionView::open(&agent.session).unwrap();
    let all: Vec<Value> = view.iterations().map(|it| json!(it)).collect();
    assert_eq!(all.len(), 4);
    for (at, expected) in all.iter().enumerate() {
        let one = view.iteration(at + 1).map(|it| json!(it));
        assert_eq!(one.as_ref(), Some(expected));
        assert_eq!(expected["number"], at + 1);
        assert!(expected["completed_at"].as_str() >= expected["started_at"].as_str());
    }
    assert!(view.iteration(0).is_none() && view.iteration(5).is_none());

    let first = IterationSummary::from(&view.iteration(1).unwrap());
    assert_eq!(first.prompt, "Go");
    assert!(first.first_token_ms.is_some() && first.ended >= Some(first.began));
    let calls: Vec<_> = first
        .calls
        .iter()
        .map(|it| (it.name.as_str(), it.status))
        .collect();
    assert_eq!(
        calls,
        [
            ("good", Some(ToolStatus::Ok)),
            ("bad", Some(ToolStatus::Error))
        ]
    );
    // The failed iteration has no text.
    let last = IterationSummary::from(&view.iteration(4).unwrap());
    assert_eq!((last.prompt.as_str(), last.first_token_ms), ("Fail", None));
}

#[tokio::test]
async fn an_unreadable_answer_keeps_its_number() {
    let agent = run().await;
    let text = std::fs::read_to_string(&agent.session).unwrap();
    let damaged = text.replacen("\"stopReason\":\"toolUse\",", "\"stopReason\":7,", 2);
    assert_ne!(text, damaged);
    std::fs::write(&agent.session, damaged).unwrap();
    let view = SessionView::open(&agent.session).unwrap();
    let all: Vec<Value> = view.iterations().map(|it| json!(it)).collect();
    assert_eq!(
        (all.len(), &all[0]["metadata"]["damaged"]),
        (4, &json!(true))
    );
    for (at, expected) in all.iter().enumerate() {
        let one = view.iteration(at + 1).map(|it| json!(it));
        assert_eq!(one.as_ref(), Some(expected));
    }
}
