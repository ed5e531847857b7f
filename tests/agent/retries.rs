//! The wait before a retry, on a clock that the test moves: its length, what ends it early, and
//! what happens to messages typed meanwhile.

use std::time::Duration;

use serde_json::json;
use tiller::agent::{AgentEvent, LoopRules, RetryRules, RunOutcome, ToolStatus};
use tiller::llm::{Content, ErrorClass, LlmError, StreamEvent};
use tokio::time::Instant;

use super::fixture::*;
use super::steering::queued;

fn fail(error: LlmError) -> Step {
    Step::Say(StreamEvent::Error(error))
}

fn busy() -> LlmError {
    LlmError::new(ErrorClass::Retryable, "lab/scripted: busy").with_hint("Send it again")
}

/// Fails without any text.
fn silent() -> Vec<Step> {
    vec![start(), fail(busy())]
}

/// Fails in the middle of a sentence.
fn halfway() -> Vec<Step> {
    let mut steps = vec![start()];
    steps.push(Step::Say(StreamEvent::BlockStart {
        index: 0,
        block: Content::text(""),
    }));
    steps.extend([delta(0, "half a"), fail(busy())]);
    steps
}

fn exact() -> LoopRules {
    LoopRules {
        retry: RetryRules {
            jitter: false,
            ..RetryRules::default()
        },
        ..LoopRules::default()
    }
}

fn failing(answers: Vec<Vec<Step>>) -> TestAgent {
    Setup {
        answers,
        rules: exact(),
        ..Setup::default()
    }
    .start()
}

fn countdown(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::State(state) if state.is_retrying())
}

// The sixth failure ends the run.
#[tokio::test(start_paused = true)]
async fn retries_wait_1_2_4_8_and_16_seconds() {
    let mut agent = failing(vec![silent(); 6]);
    agent.prompt("Go");
    let mut waits = Vec::new();
    for _ in 0..5 {
        agent.until(countdown).await;
        let began = Instant::now();
        agent
            .until(|event| matches!(event, AgentEvent::State(state) if !state.is_retrying()))
            .await;
        waits.push(began.elapsed().as_millis());
    }
    let seconds = |ms: &u128| (*ms as f64 / 1000.0).round() as u32;
    assert_eq!(
        waits.iter().map(seconds).collect::<Vec<_>>(),
        [1, 2, 4, 8, 16]
    );
    let outcome = agent.settled().await;
    let failed = "lab/scripted: busy (tried 6 times)\nSend it again";
    assert_eq!(
        outcome,
        RunOutcome::Failed {
            message: failed.into()
        }
    );
    assert_eq!(agent.script.requests().len(), 6);
    assert_eq!(agent.stored().len(), 2, "{:?}", agent.stored());
}

#[tokio::test(start_paused = true)]
async fn the_wait_follows_the_servers_retry_after() {
    let asked = |ms| {
        let mut error = busy();
        error.retry_after_ms = Some(ms);
        vec![fail(error)]
    };
    let mut agent = failing(vec![asked(17_500), say("ok")]);
    agent.prompt("Go");
    let began = Instant::now();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(began.elapsed().as_millis() / 100, 175);

    let mut agent = failing(vec![asked(61_000), say("ok")]);
    agent.prompt("Go");
    let outcome = agent.settled().await;
    assert!(matches!(outcome, RunOutcome::Failed { .. }), "{outcome:?}");
    assert_eq!(agent.script.requests().len(), 1);
}

/// All events of one retry.
#[tokio::test(start_paused = true)]
async fn an_attempt_without_text_leaves_only_its_events() {
    let mut agent = failing(vec![silent(), say("ok")]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let story: Vec<String> = agent
        .story()
        .into_iter()
        .filter(|line| !line.starts_with("state"))
        .collect();
    assert_eq!(
        story,
        [
            "agent start",
            "turn start 1",
            "message start user: Go",
            "message end user: Go",
            "retry 1/5 in 1000 ms: lab/scripted: busy",
            "message start assistant: ",
            "message end assistant: ok",
            "retry 1 ok",
            "turn end 0 results",
            "agent end Done 2 messages",
            "settled aborted=false",
        ]
    );
    assert_eq!(agent.stored(), ["user: Go", "assistant: ok"]);
}

// The session keeps the partial answer with its error, and no request sends it again.
#[tokio::test(start_paused = true)]
async fn a_partial_answer_is_kept_and_retried() {
    let mut agent = failing(vec![halfway(), say("whole")]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.stored(),
        ["user: Go", "assistant: half a", "assistant: whole"]
    );
    let entries = agent.entries();
    let half = entries
        .iter()
        .map(|entry| &entry["message"])
        .find(|message| message["role"] == "assistant")
        .unwrap();
    assert_eq!(half["stopReason"], "error", "{half}");
    assert_eq!(half["errorMessage"], "lab/scripted: busy\nRetried (1 of 5)");
}

// tiller never runs the calls of a failed answer.
#[tokio::test(start_paused = true)]
async fn calls_of_a_failed_answer_never_run() {
    let mut broken = vec![start()];
    broken.extend(call_block(0, "c1", "a", "{}"));
    broken.push(fail(busy()));
    let mut agent = Setup {
        answers: vec![broken, call(&[("c1", "a", json!({}))]), say("ok")],
        tools: vec![("a", false, Act::Succeed("did".into()))],
        rules: exact(),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let ran = agent.log.lock().unwrap().len();
    assert_eq!(ran, 2, "expected one start and one end");
    let ends = agent.seen.iter().filter(|event| {
        matches!(&event.kind, AgentEvent::ToolEnd { status, .. } if *status == ToolStatus::Ok)
    });
    assert_eq!(ends.count(), 1);
}

// The wait ends at once, the session is valid, and the user can send the prompt again.
#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_wait() {
    for broken in [silent(), halfway()] {
        let mut agent = failing(vec![broken, say("ok")]);
        agent.prompt("Go");
        agent.until(countdown).await;
        agent.follow_up("later");
        agent.until(queued).await;
        let began = Instant::now();
        agent.handle.abort();
        assert_eq!(agent.settled().await, RunOutcome::Aborted);
        assert!(began.elapsed() < Duration::from_millis(100));
        let story = agent.story();
        assert!(story.contains(&"retry 1 failed: Retry cancelled".to_owned()));
        assert!(story.contains(&"returned later".to_owned()));
        assert_eq!(agent.script.requests().len(), 1);
        assert_eq!(agent.stored().len(), 2);
        agent.handle.go_on();
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert_eq!(agent.stored().last().unwrap(), "assistant: ok");
    }
}

// A message typed during the wait goes with the next attempt.
#[tokio::test(start_paused = true)]
async fn steering_goes_with_the_next_attempt() {
    let mut agent = failing(vec![silent(), say("ok")]);
    agent.prompt("Go");
    agent.until(countdown).await;
    agent.steer("and be brief");
    agent.until(queued).await;
    let began = Instant::now();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(began.elapsed().as_secs(), 1, "the wait was cut short");
    assert_eq!(
        agent.stored(),
        ["user: Go", "user: and be brief", "assistant: ok"]
    );
    assert_eq!(agent.request(1), ["user: Go", "user: and be brief"]);
}

#[tokio::test(start_paused = true)]
async fn steering_now_ends_the_wait() {
    for steering in [None, Some("now")] {
        let mut error = busy();
        error.retry_after_ms = Some(50_000);
        let mut agent = failing(vec![vec![fail(error)], say("ok")]);
        agent.prompt("Go");
        agent.until(countdown).await;
        if let Some(text) = steering {
            agent.steer(text);
        }
        let began = Instant::now();
        agent.handle.steer_now();
        // There is no more wait, and a second request cuts nothing else short.
        agent.handle.steer_now();
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert!(began.elapsed() < Duration::from_secs(1));
        assert_eq!(agent.stored().last().unwrap(), "assistant: ok");
    }
}

// The user can choose another model during the wait.
#[tokio::test(start_paused = true)]
async fn the_next_attempt_uses_the_newly_chosen_model() {
    let mut agent = failing(vec![silent(), say("ok")]);
    agent.prompt("Go");
    agent.until(countdown).await;
    let mut other = model();
    other.id = "other".into();
    agent.handle.set_model(other);
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests()[1].model.id, "other");
}

// A retry isn't a new iteration.
#[tokio::test(start_paused = true)]
async fn retries_do_not_count_as_iterations() {
    let rules = LoopRules {
        max_iterations: 1,
        ..exact()
    };
    let mut agent = Setup {
        answers: vec![silent(), silent(), say("ok")],
        rules,
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 3);
}
