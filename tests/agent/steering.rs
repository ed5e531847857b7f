//! Messages typed during a run.

use serde_json::json;
use tiller::agent::{AgentEvent, LoopRules, QueueMode, RunOutcome};
use tiller::llm::ThinkingLevel;

use super::fixture::*;

pub fn queued(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::QueueUpdate { .. })
}

fn three_slow(gate: &std::sync::Arc<Gate>) -> Vec<(&'static str, bool, Act)> {
    vec![
        ("a", false, Act::Gate(gate.clone())),
        ("b", false, Act::Succeed("b done".into())),
        ("c", false, Act::Succeed("c done".into())),
    ]
}

fn three_calls() -> Vec<Step> {
    call(&[
        ("c1", "a", json!({})),
        ("c2", "b", json!({})),
        ("c3", "c", json!({})),
    ])
}

#[tokio::test]
async fn steering_skips_what_has_not_started() {
    let gate = Gate::new();
    let mut agent = agent(vec![three_calls(), say("ok")], three_slow(&gate));
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("stop that");
    agent.steer("and this");
    agent.until(queued).await;
    agent.until(queued).await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let skipped = "Skipped due to user message.";
    let expected = [
        "user: Go".to_owned(),
        "assistant: [c1 c2 c3]".into(),
        "c1: a done".into(),
        format!("c2!: {skipped}"),
        format!("c3!: {skipped}"),
        "user: stop that".into(),
        "user: and this".into(),
    ];
    assert_eq!(agent.request(1), expected);
    assert_eq!(agent.stored()[..7], expected);
    let story = agent.story();
    let tools: Vec<_> = story
        .iter()
        .filter(|line| line.starts_with("tool") || line.starts_with("queue"))
        .collect();
    assert_eq!(
        tools,
        [
            "tool start c1 a",
            "queue 1 0",
            "queue 2 0",
            "tool end c1 Ok",
            "tool start c2 b",
            "tool end c2 Skipped",
            "tool start c3 c",
            "tool end c3 Skipped",
            "queue 0 0",
        ]
    );
    assert_eq!(agent.log.lock().unwrap().len(), 2, "b or c ran");
}

#[tokio::test]
async fn without_skipping_all_tools_run_first() {
    let gate = Gate::new();
    let mut agent = Setup {
        answers: vec![three_calls(), say("ok")],
        tools: three_slow(&gate),
        rules: LoopRules {
            skip_on_steering: false,
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("later");
    agent.until(queued).await;
    gate.open();
    agent.settled().await;
    assert_eq!(
        agent.request(1)[2..],
        ["c1: a done", "c2: b done", "c3: c done", "user: later"]
    );
}

#[tokio::test]
async fn steering_typed_while_streaming_is_in_the_very_next_request() {
    let gate = Gate::new();
    let mut answer = vec![start(), Step::Wait(gate.clone())];
    answer.extend(say("first")[1..].to_vec());
    let mut agent = agent(vec![answer, say("second")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.prompt("more");
    agent.until(queued).await;
    gate.open();
    agent.settled().await;
    assert_eq!(
        agent.request(1),
        ["user: Go", "assistant: first", "user: more"]
    );
    assert_eq!(agent.script.requests().len(), 2);
}

// If the user steers while the model answers with calls, none of them runs.
#[tokio::test]
async fn steering_before_the_first_tool_skips_all() {
    let gate = Gate::new();
    let mut answer = vec![start(), Step::Wait(gate.clone())];
    answer.extend(three_calls()[1..].to_vec());
    let never = Gate::new();
    let mut agent = agent(vec![answer, say("ok")], three_slow(&never));
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("no");
    agent.until(queued).await;
    gate.open();
    agent.settled().await;
    assert!(agent.log.lock().unwrap().is_empty());
    assert_eq!(agent.request(1).last().unwrap(), "user: no");
    assert_eq!(agent.request(1).len(), 6);
}

#[tokio::test]
async fn follow_ups_run_one_by_one_after_the_end() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![
            call(&[("c1", "a", json!({}))]),
            say("done"),
            say("one"),
            say("two"),
        ],
        three_slow(&gate),
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("first");
    agent.follow_up("second");
    agent.until(queued).await;
    agent.until(queued).await;
    gate.open();
    agent.settled().await;
    assert_eq!(
        agent.stored(),
        [
            "user: Go",
            "assistant: [c1]",
            "c1: a done",
            "assistant: done",
            "user: first",
            "assistant: one",
            "user: second",
            "assistant: two",
        ]
    );
}

#[tokio::test]
async fn queue_modes_say_how_many_go_out_together() {
    let gate = Gate::new();
    let mut answer = vec![start(), Step::Wait(gate.clone())];
    answer.extend(say("first")[1..].to_vec());
    let mut agent = Setup {
        answers: vec![answer, say("a"), say("b"), say("c")],
        rules: LoopRules {
            steering_mode: QueueMode::One,
            follow_up_mode: QueueMode::All,
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("f1");
    agent.follow_up("f2");
    agent.steer("s1");
    agent.steer("s2");
    for _ in 0..4 {
        agent.until(queued).await;
    }
    gate.open();
    agent.settled().await;
    assert_eq!(
        agent.stored()[2..],
        [
            "user: s1",
            "assistant: a",
            "user: s2",
            "assistant: b",
            "user: f1",
            "user: f2",
            "assistant: c",
        ]
    );
}

#[tokio::test]
async fn queued_messages_can_return_to_the_editor() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        three_slow(&gate),
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("f");
    agent.steer("s1");
    agent.steer("s2");
    let mut last = Vec::new();
    for _ in 0..3 {
        if let AgentEvent::QueueUpdate { steering, .. } = agent.until(queued).await {
            last = steering;
        }
    }
    agent.handle.take_back(Some(last[0].id));
    agent
        .until(|event| matches!(event, AgentEvent::QueueReturned { .. }))
        .await;
    agent.handle.take_back(None);
    agent
        .until(|event| matches!(event, AgentEvent::QueueReturned { .. }))
        .await;
    let story = agent.story();
    let returned: Vec<_> = story
        .iter()
        .filter(|line| line.starts_with("returned"))
        .collect();
    assert_eq!(returned, ["returned s1", "returned s2 | f"]);
    gate.open();
    agent.settled().await;
    assert_eq!(agent.stored().last().unwrap(), "assistant: ok");
    assert_eq!(agent.request(1).len(), 3);
}

#[tokio::test]
async fn steer_now_cuts_a_tool_and_delivers_at_once() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![
            call(&[("c1", "sh", json!({})), ("c2", "b", json!({}))]),
            say("ok"),
        ],
        vec![
            (
                "sh",
                false,
                Act::Output("line 1\nline 2".into(), gate.clone()),
            ),
            ("b", false, Act::Succeed("b".into())),
        ],
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("wrong folder");
    agent.handle.steer_now();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.request(1)[2..],
        [
            "c1!: Interrupted by user message\nline 1\nline 2",
            "c2!: Skipped due to user message.",
            "user: wrong folder",
        ]
    );
}

#[tokio::test]
async fn steer_now_cuts_a_stream_and_keeps_what_was_said() {
    let gate = Gate::new();
    let mut answer = vec![start()];
    answer.extend(text_block(0, "I will"));
    answer.push(Step::Wait(gate.clone()));
    let mut agent = agent(vec![answer, say("ok")], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.steer_now();
    agent.steer("not that");
    agent.until(queued).await;
    assert_eq!(
        agent.script.live_streams(),
        1,
        "the stream was cut although no message waited"
    );
    agent.handle.steer_now();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.request(1),
        [
            "user: Go",
            "assistant: I will",
            "note: [interrupted by the user]",
            "user: not that"
        ]
    );
    let answer = agent
        .entries()
        .into_iter()
        .find(|entry| entry["message"]["role"] == "assistant");
    assert_eq!(answer.unwrap()["message"]["stopReason"], "aborted");
}

// The model changes from the next call on.
#[tokio::test]
async fn model_and_thinking_change_from_the_next_call_on() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        three_slow(&gate),
    );
    agent.prompt("Go");
    gate.reached().await;
    let other = tiller::llm::Model {
        id: "other".into(),
        ..model()
    };
    agent.handle.set_model(other);
    agent.handle.set_thinking(ThinkingLevel::High);
    for _ in 0..2 {
        agent
            .until(|event| matches!(event, AgentEvent::ModelChanged { .. }))
            .await;
    }
    gate.open();
    agent.settled().await;
    let requests = agent.script.requests();
    assert_eq!(requests[0].model.id, "scripted");
    assert_eq!(requests[1].model.id, "other");
    assert_eq!(requests[1].thinking, ThinkingLevel::High);
    let entries = agent.entries();
    let changes: Vec<_> = entries
        .iter()
        .filter(|entry| entry["type"] != "message" && entry["type"] != "session")
        .filter(|entry| entry["customType"] != "tiller.event")
        .filter(|entry| entry["customType"] != "tiller.undo")
        .filter(|entry| entry["customType"] != "tiller.run")
        .filter(|entry| entry["customType"] != "tiller.queued")
        .filter(|entry| entry["customType"] != "tiller.unqueued")
        .map(|entry| entry["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        changes,
        [
            "model_change",
            "thinking_level_change",
            "custom",
            "model_change",
            "thinking_level_change"
        ]
    );
}

// A failed call loses no message. The queue goes out with the next prompt, in the order typed.
#[tokio::test]
async fn queued_messages_survive_a_failure() {
    let gate = Gate::new();
    let broken = vec![start(), Step::Wait(gate.clone())];
    let mut agent = Setup {
        answers: vec![broken, say("ok"), say("followed")],
        rules: no_retries(),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("later");
    agent.steer("waiting");
    agent.until(queued).await;
    agent.until(queued).await;
    gate.open();
    let outcome = agent.settled().await;
    assert!(matches!(outcome, RunOutcome::Failed { .. }), "{outcome:?}");
    agent.prompt("next");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.stored(),
        [
            "user: Go",
            "assistant: ",
            "user: waiting",
            "user: next",
            "assistant: ok",
            "user: later",
            "assistant: followed",
        ]
    );
}

// A message without content is dropped: the model would have nothing to answer.
#[tokio::test]
async fn a_message_without_content_is_dropped() {
    let mut agent = agent(vec![say("ok")], vec![]);
    agent.handle.prompt(vec![]);
    agent.handle.follow_up(vec![]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.request(0), ["user: Go"]);
}
