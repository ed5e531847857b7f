//! Models that answer when the chosen one cannot (`models.fallback`).

use serde_json::json;
use tiller::agent::{AgentEvent, LoopRules, RetryRules, RunOutcome};
use tiller::llm::{ErrorClass, LlmError, Model, StreamEvent};

use super::fixture::*;

fn fails(class: ErrorClass) -> Vec<Step> {
    let error = LlmError::new(class, "lab/scripted: it cannot").with_hint("the way out");
    vec![start(), Step::Say(StreamEvent::Error(error))]
}

fn other(id: &str) -> Model {
    Model {
        id: id.into(),
        ..model()
    }
}

fn staffed(answers: Vec<Vec<Step>>) -> TestAgent {
    staffed_with(vec![other("second"), other("third")], answers)
}

fn staffed_with(fallback: Vec<Model>, answers: Vec<Vec<Step>>) -> TestAgent {
    Setup {
        answers,
        tools: vec![("a", false, Act::Succeed("did".into()))],
        fallback,
        rules: LoopRules {
            retry: RetryRules {
                max: 1,
                base_ms: 1,
                ..RetryRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start()
}

fn asked(agent: &TestAgent) -> Vec<String> {
    let requests = agent.script.requests();
    requests
        .into_iter()
        .map(|request| request.model.id)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn each_model_is_asked_once_however_often_it_is_named() {
    let named = ["second", "third", "second", "scripted", "third"].map(other);
    let answers = vec![fails(ErrorClass::Quota); 6];
    let mut agent = staffed_with(named.to_vec(), answers);
    agent.prompt("Go");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    assert_eq!(asked(&agent), ["scripted"]);

    let named = ["second", "third", "second"].map(other);
    let mut agent = staffed_with(named.to_vec(), vec![fails(ErrorClass::Quota); 6]);
    agent.prompt("Go");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    assert_eq!(asked(&agent), ["scripted", "second", "third"]);
}

/// Who chooses a model while another one fails means the one they chose.
#[tokio::test]
async fn a_model_chosen_meanwhile_is_asked_instead_of_the_next_one() {
    let gate = Gate::new();
    let mut failing = fails(ErrorClass::Quota);
    failing.insert(0, Step::Wait(gate.clone()));
    let mut agent = staffed(vec![failing, say("ok")]);
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.set_model(other("chosen"));
    agent
        .until(
            |event| matches!(event, AgentEvent::ModelChanged { model, .. } if model.id == "chosen"),
        )
        .await;
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(asked(&agent), ["scripted", "chosen"]);
}

// F5
#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_answer_is_replaced() {
    use ErrorClass::*;
    for (class, expected) in [
        (Quota, &["scripted", "second"][..]),
        (Auth, &["scripted", "second"]),
        (NoModel, &["scripted", "second"]),
        (Retryable, &["scripted", "scripted", "second"]),
        (Client, &["scripted"]),
        (Overflow, &["scripted"]),
    ] {
        let mut answers = vec![fails(class); expected.len().max(2) - 1];
        answers.push(say("ok"));
        let mut agent = staffed(answers);
        agent.prompt("Go");
        let outcome = agent.settled().await;
        assert_eq!(asked(&agent), expected, "{class:?}");
        let replaced = expected.len() > 1;
        assert_eq!(
            outcome == RunOutcome::Done,
            replaced,
            "{class:?} {outcome:?}"
        );
        let notice = "notice Warning lab/scripted can't answer: it cannot\n\
            lab/second answers until your next message";
        assert_eq!(
            agent.story().contains(&notice.to_owned()),
            replaced,
            "{class:?}"
        );
        if replaced {
            assert_eq!(agent.stored(), ["user: Go", "assistant: ok"]);
        }
    }
}

/// The stand-in stays for the run; the user's choice is asked again with the next prompt.
#[tokio::test(start_paused = true)]
async fn the_choice_is_the_users() {
    let mut agent = staffed(vec![
        fails(ErrorClass::Quota),
        call(&[("c1", "a", json!({}))]),
        say("done"),
        say("mine again"),
    ]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    agent.prompt("Next");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(asked(&agent), ["scripted", "second", "second", "scripted"]);
    let changes = agent.story();
    assert!(
        changes.iter().all(|line| !line.starts_with("model ")),
        "{changes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn all_are_tried_in_order_each_with_its_own_retries() {
    use ErrorClass::*;
    let others = || vec![other("second"), other("third")];
    for (class, fallback, expected) in [
        (Auth, others(), "scripted second third"),
        (
            Retryable,
            others(),
            "scripted scripted second second third third",
        ),
        // A model that is its own fallback is not asked twice.
        (Auth, vec![model()], "scripted"),
    ] {
        let mut agent = staffed_with(fallback, vec![fails(class); 6]);
        agent.prompt("Go");
        let outcome = agent.settled().await;
        assert!(matches!(outcome, RunOutcome::Failed { .. }), "{outcome:?}");
        assert_eq!(asked(&agent).join(" "), expected);
    }
}

/// A later call of the same run does not ask those again that could not answer.
#[tokio::test(start_paused = true)]
async fn who_failed_is_not_asked_again_in_this_run() {
    let mut agent = staffed(vec![
        fails(ErrorClass::Quota),
        call(&[("c1", "a", json!({}))]),
        fails(ErrorClass::Quota),
        say("done"),
    ]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(asked(&agent), ["scripted", "second", "second", "third"]);
}
