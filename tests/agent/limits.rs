//! The iteration limit: the user sees it, and one command continues the run.

use serde_json::json;
use tiller::agent::{AgentEvent, LoopRules, RunOutcome};
use tiller::llm::{Model, WindowSource};

use super::fixture::*;
use super::steering::queued;

fn limited(max_iterations: u32, answers: Vec<Vec<Step>>, act: Act) -> TestAgent {
    Setup {
        answers,
        tools: vec![("a", false, act)],
        rules: LoopRules {
            max_iterations,
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start()
}

fn calls(n: usize) -> Vec<Vec<Step>> {
    let id = |n: usize| format!("c{n}");
    (0..n)
        .map(|n| call(&[(id(n).as_str(), "a", json!({}))]))
        .collect()
}

#[tokio::test]
async fn the_run_stops_after_exactly_n_calls_and_says_so() {
    let mut answers = calls(4);
    answers.push(say("ok"));
    let mut agent = limited(3, answers, Act::Succeed("done".into()));
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::LimitReached { limit: 3 });
    assert_eq!(agent.script.requests().len(), 3);
    assert_eq!(agent.stored().last().unwrap(), "c2: done");
    assert!(
        !std::fs::read_to_string(&agent.session)
            .unwrap()
            .contains("max")
    );

    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 5);
    assert_eq!(agent.request(4).last().unwrap(), "c3: done");
}

#[tokio::test]
async fn zero_means_no_limit() {
    let mut answers = calls(150);
    answers.push(say("ok"));
    let mut agent = limited(0, answers, Act::Succeed("done".into()));
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 151);
}

#[tokio::test]
async fn follow_ups_share_the_budget_and_stay_queued() {
    let gate = Gate::new();
    let mut answers = calls(1);
    answers.extend([say("done"), say("followed")]);
    let mut agent = limited(2, answers, Act::Gate(gate.clone()));
    agent.prompt("Go");
    gate.reached().await;
    agent.follow_up("and then");
    agent.until(queued).await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::LimitReached { limit: 2 });
    let shown = agent.seen.iter().rev().find_map(|event| match &event.kind {
        AgentEvent::QueueUpdate { follow_up, .. } => Some(follow_up.len()),
        _ => None,
    });
    assert_eq!(shown, Some(1));
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.stored()[4..],
        ["user: and then", "assistant: followed"]
    );
}

// The count starts at 0 with each message of the user.
#[tokio::test]
async fn a_message_of_a_user_renews_the_budget() {
    let gate = Gate::new();
    let mut answers = calls(2);
    answers.push(say("ok"));
    let mut agent = limited(2, answers, Act::Gate(gate.clone()));
    agent.prompt("Go");
    gate.reached().await;
    gate.open();
    gate.reached().await;
    agent.steer("go on");
    agent.until(queued).await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 3);
}

#[tokio::test]
async fn continuing_with_nothing_to_do_does_nothing() {
    let mut agent = limited(2, vec![say("ok"), say("more")], Act::Succeed(String::new()));
    agent.handle.go_on();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.handle.go_on();
    agent.handle.steer_now();
    agent.prompt("Again");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.script.requests().len(), 2);
}

#[tokio::test]
async fn an_estimated_window_is_corrected_after_the_first_answer() {
    let estimated = Model {
        provider: "ollama".into(),
        context_window: 4096,
        window_source: WindowSource::Estimate,
        ..model()
    };
    let mut agent = Setup {
        answers: vec![call(&[("c1", "a", json!({}))]), say("ok"), say("again")],
        tools: vec![("a", false, Act::Succeed("done".into()))],
        loaded_window: Some(8192),
        model: Some(estimated),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.prompt("More");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let windows = agent.script.requests().into_iter();
    let windows: Vec<_> = windows
        .map(|request| (request.model.context_window, request.model.window_source))
        .collect();
    let known = (8192, WindowSource::Model);
    assert_eq!(windows, [(4096, WindowSource::Estimate), known, known]);
    let told: Vec<String> = agent
        .seen
        .iter()
        .filter_map(|event| match &event.kind {
            AgentEvent::ModelChanged { model, .. } => Some(model.context_window.to_string()),
            AgentEvent::Notice { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "8192",
            "Low context window for ollama/scripted: 8192 tokens (warn threshold: 32000)\n\
             Give it a larger window: OLLAMA_CONTEXT_LENGTH=32768 ollama serve"
        ]
    );
}
