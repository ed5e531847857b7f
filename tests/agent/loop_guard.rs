//! tiller tells a model that repeats itself so, once, after the results.

use serde_json::json;
use tiller::agent::{LoopGuardRules, LoopRules, RunOutcome};

use super::fixture::*;

const TOLD: &str =
    "loop_guard: You appear to be repeating the same action. Consider a different approach.";

fn circling(times: usize, guard: LoopGuardRules) -> TestAgent {
    let mut answers: Vec<_> = (0..times)
        .map(|n| call(&[(format!("c{n}").as_str(), "a", json!({"n": 1}))]))
        .collect();
    answers.push(say("I stop."));
    Setup {
        answers,
        tools: vec![("a", false, Act::Succeed("same".into()))],
        rules: LoopRules {
            loop_guard: guard,
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start()
}

#[tokio::test]
async fn the_notice_comes_after_the_results_and_only_once() {
    let mut agent = circling(4, LoopGuardRules::default());
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let said = |n: usize| agent.request(n);
    assert!(!said(2).contains(&TOLD.to_owned()));
    assert_eq!(said(3)[said(3).len() - 2..], ["c2: same", TOLD]);
    let last = said(4);
    assert_eq!(last.iter().filter(|line| *line == TOLD).count(), 1);
    assert_eq!(last.last().unwrap(), "c3: same");
    // The notice has its own origin, so nobody takes it for the user's words.
    let stored = agent.entries();
    let told = stored
        .iter()
        .find(|entry| entry["message"]["origin"] == "loop_guard")
        .unwrap();
    assert_eq!(told["message"]["role"], "user");
}

// The notice comes before a message that the user sends at the same time.
#[tokio::test]
async fn a_user_has_the_last_word() {
    let gate = Gate::new();
    let mut answers: Vec<_> = (0..3)
        .map(|n| call(&[(format!("c{n}").as_str(), "a", json!({}))]))
        .collect();
    answers.push(say("ok"));
    let mut agent = Setup {
        answers,
        tools: vec![("a", false, Act::Gate(gate.clone()))],
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    for turn in 0..3 {
        gate.reached().await;
        if turn == 2 {
            agent.steer("stop that");
            agent.until(super::steering::queued).await;
        }
        gate.open();
    }
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let last = agent.request(3);
    assert_eq!(
        last[last.len() - 3..],
        ["c2: a done", TOLD, "user: stop that"]
    );
}

#[tokio::test]
async fn the_notice_can_be_changed_and_switched_off() {
    let off = LoopGuardRules {
        enabled: false,
        ..LoopGuardRules::default()
    };
    let mut agent = circling(12, off);
    agent.prompt("Go");
    agent.settled().await;
    assert!(agent.stored().iter().all(|line| !line.starts_with("loop")));

    let other = LoopGuardRules {
        early_trip: 0,
        window: 4,
        message: "Stop it.".into(),
        ..LoopGuardRules::default()
    };
    let mut agent = circling(6, other);
    agent.prompt("Go");
    agent.settled().await;
    assert_eq!(agent.request(4).last().unwrap(), "loop_guard: Stop it.");
    assert!(
        !agent
            .request(3)
            .contains(&"loop_guard: Stop it.".to_owned())
    );
}
