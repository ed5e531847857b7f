//! What is on disk, and when.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tiller::agent::memory::InstructionSources;
use tiller::agent::process::Processes;
use tiller::agent::session::{HistoryFacts, Session};
use tiller::agent::{self, AgentEvent, AgentOptions, LoopRules, RunOutcome, SlowReader, Toolbox};
use tiller::llm::{Content, Provider, ThinkingLevel};

use super::fixture::*;

#[tokio::test]
async fn a_message_is_on_disk_before_its_end_event_and_the_request() {
    let gate = Gate::new();
    let mut agent = agent(vec![vec![Step::Wait(gate.clone())], say("ok")], vec![]);
    assert!(!agent.session.exists());
    agent.prompt("Go");
    gate.reached().await;
    assert_eq!(
        agent.stored(),
        ["user: Go"],
        "the prompt must be stored before the request"
    );
    agent.handle.abort();
    agent
        .until(|event| {
            matches!(event, AgentEvent::MessageEnd { message } if message_line(message) == "assistant: ")
        })
        .await;
    assert_eq!(agent.stored(), ["user: Go", "assistant: "]);
    agent.settled().await;
}

#[tokio::test]
async fn entries_form_one_chain() {
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Succeed("done".into()))],
    );
    agent.prompt("Go");
    agent.settled().await;
    let entries = agent.entries();
    assert_eq!(entries[0]["type"], "session");
    assert_eq!(entries[0]["version"], 3);
    assert!(entries[1]["parentId"].is_null());
    for pair in entries[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
    let last = entries.iter().rfind(|entry| entry["type"] == "message");
    assert_eq!(last.unwrap()["message"]["usage"]["cost"]["total"], 0.0);
    let request = &agent.script.requests()[0];
    assert_eq!(request.session_id.as_deref(), entries[0]["id"].as_str());
}

// The session keeps what users see of a result, up to 256 KiB.
#[tokio::test]
async fn details_are_stored_up_to_a_limit() {
    let long = "x".repeat(600_000);
    let mut agent = agent(
        vec![
            call(&[("c1", "a", json!({})), ("c2", "b", json!({}))]),
            say("ok"),
        ],
        vec![
            ("a", false, Act::Succeed("short".into())),
            ("b", false, Act::Succeed(long.clone())),
        ],
    );
    agent.prompt("Go");
    agent.settled().await;
    let entries = agent.entries();
    let results: Vec<_> = entries
        .iter()
        .map(|entry| &entry["message"])
        .filter(|message| message["role"] == "toolResult")
        .collect();
    assert_eq!(results[0]["details"]["kind"], "text");
    assert_eq!(results[0]["details"]["text"], "short");
    assert!(results[1]["details"].to_string().len() <= 256 * 1024);
    assert_eq!(results[1]["content"][0]["text"], long.as_str());
}

/// An agent whose session folder cannot be made.
#[tokio::test]
async fn a_disk_error_is_reported_once_and_the_run_continues() {
    let script = Arc::new(Script::with(vec![say("one"), say("two")]));
    let handle = agent::start(AgentOptions {
        provider: Arc::clone(&script) as Arc<dyn Provider>,
        model: model(),
        fallback: Vec::new(),
        thinking: ThinkingLevel::Off,
        cwd: "/".into(),
        toolbox: Toolbox::default(),
        processes: Processes::new(),
        system_prompt: None,
        append_system_prompt: Vec::new(),
        instructions: InstructionSources::default(),
        today: Arc::new(|| jiff::civil::date(2026, 11, 22)),
        session: Session::create(Path::new("/dev/full"), Path::new("/")),
        facts: HistoryFacts::default(),
        spill_dir: "/nonexistent".into(),
        trials: None,
        undo: None,
        permission: crate::support::everything_allowed(),
        rule_source: None,
        rules: LoopRules::default(),
        budget: agent::Budget::default(),
        budget_flags: [false; 2],
        redactor: agent::LazyRedactor::default(),
        hooks: agent::hooks::Hooks::default(),
        own_tools: agent::tools::own::OwnTools::default(),
        mcp: agent::mcp::Mcp::default(),
    });
    let mut events = handle.subscribe(SlowReader::Drop);
    let mut notices = Vec::new();
    for text in ["one", "two"] {
        handle.prompt(vec![Content::text(text)]);
        loop {
            match &within(events.recv()).await.unwrap().kind {
                AgentEvent::Notice { text, .. } => notices.push(text.clone()),
                AgentEvent::AgentEnd { outcome, .. } => assert_eq!(*outcome, RunOutcome::Done),
                AgentEvent::AgentSettled { .. } => break,
                _ => {}
            }
        }
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].contains("Can't save the session to /dev/full/"),
        "{notices:?}"
    );
    assert_eq!(script.requests()[1].messages.len(), 3);
    handle.shutdown().await;
}

// 10 kB for the prompt and the tools. The tools have their own tests.
#[tokio::test]
async fn the_system_prompt_is_small_and_the_same_in_each_call() {
    let mut agent = agent(
        vec![call(&[("c1", "bash", json!({}))]), say("ok")],
        vec![("bash", false, Act::Succeed("done".into()))],
    );
    agent.prompt("Go");
    agent.settled().await;
    let requests = agent.script.requests();
    assert_eq!(requests[0].system, requests[1].system);
    assert!(requests[0].system.len() < 4_000);
    assert!(requests[0].system.contains(agent.cwd.to_str().unwrap()));
}
