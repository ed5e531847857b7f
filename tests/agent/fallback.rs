//! Fallback models (`models.fallback`), which answer if the chosen model can't.

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

fn with_fallbacks(answers: Vec<Vec<Step>>) -> TestAgent {
    with_fallback_models(vec![other("second"), other("third")], answers)
}

fn with_fallback_models(fallback: Vec<Model>, answers: Vec<Vec<Step>>) -> TestAgent {
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
async fn a_model_named_twice_is_tried_once() {
    let named = ["second", "third", "second", "scripted", "third"].map(other);
    let answers = vec![fails(ErrorClass::Quota); 6];
    let mut agent = with_fallback_models(named.to_vec(), answers);
    agent.prompt("Go");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    assert_eq!(asked(&agent), ["scripted"]);

    let named = ["second", "third", "second"].map(other);
    let mut agent = with_fallback_models(named.to_vec(), vec![fails(ErrorClass::Quota); 6]);
    agent.prompt("Go");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    assert_eq!(asked(&agent), ["scripted", "second", "third"]);
}

/// A user who chooses a model while another one fails wants the chosen one.
#[tokio::test]
async fn a_model_chosen_meanwhile_replaces_the_next_fallback() {
    let gate = Gate::new();
    let mut failing = fails(ErrorClass::Quota);
    failing.insert(0, Step::Wait(gate.clone()));
    let mut agent = with_fallbacks(vec![failing, say("ok")]);
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

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_for_a_model_that_fails() {
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
        let mut agent = with_fallbacks(answers);
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

/// The fallback answers for the rest of the run. The next prompt tries the user's model first.
#[tokio::test(start_paused = true)]
async fn the_next_prompt_tries_the_chosen_model_first() {
    let mut agent = with_fallbacks(vec![
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
async fn fallbacks_are_tried_in_order_each_with_its_retries() {
    use ErrorClass::*;
    let others = || vec![other("second"), other("third")];
    for (class, fallback, expected) in [
        (Auth, others(), "scripted second third"),
        (
            Retryable,
            others(),
            "scripted scripted second second third third",
        ),
        // A model that is its own fallback is tried once.
        (Auth, vec![model()], "scripted"),
    ] {
        let mut agent = with_fallback_models(fallback, vec![fails(class); 6]);
        agent.prompt("Go");
        let outcome = agent.settled().await;
        assert!(matches!(outcome, RunOutcome::Failed { .. }), "{outcome:?}");
        assert_eq!(asked(&agent).join(" "), expected);
    }
}

/// Later calls of the same run skip the models that failed.
#[tokio::test(start_paused = true)]
async fn a_failed_model_is_skipped_for_the_rest_of_the_run() {
    let mut agent = with_fallbacks(vec![
        fails(ErrorClass::Quota),
        call(&[("c1", "a", json!({}))]),
        fails(ErrorClass::Quota),
        say("done"),
    ]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(asked(&agent), ["scripted", "second", "second", "third"]);
}
