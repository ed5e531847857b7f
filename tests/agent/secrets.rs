//! Secrets in tool output: neither the model, the session nor a subscriber gets them.

use serde_json::json;
use tiller::agent::{AgentEvent, LazyRedactor, RunOutcome};
use tiller::llm::Secret;
use tiller::llm::auth::Redactor;

use super::fixture::{Act, Gate, Setup, TestAgent, call, say};

const TOKEN: &str = "tok-5f2c9e7ab1d04386";

fn setup(act: Act, args: serde_json::Value) -> TestAgent {
    Setup {
        answers: vec![call(&[("c1", "a", args)]), say("ok")],
        tools: vec![("a", false, act)],
        redactor: LazyRedactor::new(|| {
            let redactor = Redactor::default();
            redactor.add_named("LAB_TOKEN", &Secret::new(TOKEN));
            redactor
        }),
        ..Setup::default()
    }
    .start()
}

fn seen(agent: &TestAgent) -> String {
    format!("{:?}", agent.seen)
}

#[tokio::test]
async fn a_result_is_redacted_before_anyone_sees_it() {
    for act in [
        Act::Succeed(format!("the token is {TOKEN}.")),
        Act::Fail(format!("the token is {TOKEN}.")),
        Act::Panic(format!("the token is {TOKEN}.")),
    ] {
        let mut agent = setup(act, json!({}));
        agent.prompt("Go");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        let stored = std::fs::read_to_string(&agent.session).unwrap();
        for (text, place) in [
            (agent.request(1).join("\n"), "request"),
            (stored, "session"),
            (seen(&agent), "events"),
        ] {
            assert!(!text.contains(TOKEN), "{place}: {text}");
            assert!(text.contains("[redacted: LAB_TOKEN]."), "{place}: {text}");
        }
    }
}

#[tokio::test]
async fn live_output_and_interrupted_calls_are_redacted() {
    let gate = Gate::new();
    let mut agent = setup(Act::Output(format!("= {TOKEN}"), gate.clone()), json!({}));
    agent.prompt("Go");
    gate.reached().await;
    agent
        .until(|event| matches!(event, AgentEvent::ToolUpdate { .. }))
        .await;
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    let seen = seen(&agent);
    assert!(
        !seen.contains(TOKEN) && seen.contains("= [redacted: LAB_TOKEN]"),
        "{seen}"
    );
    assert!(
        !std::fs::read_to_string(&agent.session)
            .unwrap()
            .contains(TOKEN)
    );
}

#[tokio::test]
async fn no_write_puts_the_redaction_mark_into_a_file() {
    let write = Act::FinishWhenCancelled(0);
    let text = "TOKEN=[redacted: LAB_TOKEN]\nMODE=fast\n";
    let mut agent = setup(write, json!({ "content": text }));
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(agent.log.lock().unwrap().is_empty(), "the tool ran");
    let answer = agent.request(1).pop().unwrap();
    assert!(answer.contains("Nothing was written"), "{answer}");
    assert!(answer.contains("[redacted: LAB_TOKEN]"), "{answer}");
}
