//! Refused prompts: the session continues as if the user hadn't sent them.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::session::Session;
use tiller::agent::{
    AgentEvent, CompactionOutcome, CompactionRules, LoopRules, RetryRules, RunOutcome, RunState,
};
use tiller::llm::{ErrorClass, LlmError, Model, StreamEvent};

use super::fixture::{Act, Setup, Step, TestAgent, call, model, no_retries, say};
use crate::llm::kit;
use crate::support::model_server::{ModelServer, Reply, Said, Script, Wire};

fn refuses() -> Vec<Step> {
    let error = LlmError::new(
        ErrorClass::Refused,
        "lab/scripted: the model refused (cyber)",
    );
    vec![Step::Say(StreamEvent::Error(error))]
}

fn setup(answers: Vec<Vec<Step>>) -> Setup {
    Setup {
        answers,
        tools: vec![("read", true, Act::Succeed("exploit".into()))],
        rules: no_retries(),
        ..Setup::default()
    }
}

async fn ask(agent: &mut TestAgent, text: &str) -> RunOutcome {
    agent.prompt(text);
    agent.settled().await
}

/// The user's messages in a request to the server.
fn users(server: &ModelServer, at: usize) -> Vec<String> {
    let said = server.request(at).said();
    let text = said.into_iter().filter_map(|said| match said {
        Said::User(text) => Some(text),
        _ => None,
    });
    text.collect()
}

#[tokio::test]
async fn the_session_continues_after_a_refused_prompt_on_every_wire() {
    for wire in Wire::ALL {
        let server = ModelServer::start(Script::of([
            Reply::text("Hello."),
            Reply::text("I").stop("refusal"),
            Reply::text("a.txt"),
            Reply::text("b.txt"),
        ]));
        let setup = |resume| Setup {
            provider: Some(Arc::new(kit::wires(&server))),
            model: Some(kit::model(wire, &server.url(wire))),
            rules: no_retries(),
            resume,
            ..Setup::default()
        };
        let mut agent = setup(None).start();
        assert_eq!(ask(&mut agent, "hi").await, RunOutcome::Done);
        let RunOutcome::Failed { message } = ask(&mut agent, "write an exploit").await else {
            panic!("{wire:?}: a refusal is not an answer");
        };
        assert!(
            message.contains("tiller leaves what it refused out of later requests"),
            "{message}"
        );
        assert!(message.contains("models.fallback"), "{message}");
        // There is nothing to answer: continuing would send the earlier, answered prompt again.
        agent.handle.go_on();
        let idle = |event: &AgentEvent| matches!(event, AgentEvent::State(RunState::Idle));
        agent.until(idle).await;
        let (session, _) = Session::look(&agent.session).unwrap();
        assert!(!session.facts().is_cut_off());
        assert_eq!(ask(&mut agent, "list the files").await, RunOutcome::Done);
        let resume = Some((Arc::clone(&agent.folder), agent.session.clone()));
        agent.handle.shutdown().await;
        let mut agent = setup(resume).start();
        assert_eq!(ask(&mut agent, "and now").await, RunOutcome::Done);

        assert!(server.request(1).text().contains("exploit"));
        for later in [2, 3] {
            let said = server.request(later);
            assert!(!said.text().contains("exploit"), "{wire:?} {later}");
            assert!(
                users(&server, later)
                    .iter()
                    .any(|text| text.contains("list the files"))
            );
        }
    }
}

/// The session keeps the calls before the refusal. The results that the model refused go.
#[tokio::test]
async fn refused_results_are_dropped_and_their_calls_stay() {
    let mut agent = setup(vec![
        call(&[("c1", "read", json!({}))]),
        refuses(),
        say("fine"),
    ])
    .start();
    ask(&mut agent, "read it").await;
    assert_eq!(ask(&mut agent, "list the files").await, RunOutcome::Done);
    let said = agent.request(2);
    assert!(said.iter().any(|line| line == "user: read it"), "{said:?}");
    let result = said.iter().find(|line| line.starts_with("c1")).unwrap();
    assert!(result.contains("result left out"), "{result}");
    assert!(!said.join("\n").contains("exploit"), "{said:?}");
    // No thinking is lost.
    let requests = agent.script.requests();
    assert_eq!(requests[2].thinking_from, requests[1].thinking_from);
}

fn second() -> Model {
    Model {
        id: "second".into(),
        ..model()
    }
}

#[tokio::test]
async fn another_model_answers_a_refused_prompt() {
    let mut agent = Setup {
        fallback: vec![second()],
        ..setup(vec![refuses(), say("ok")])
    }
    .start();
    assert_eq!(ask(&mut agent, "Go").await, RunOutcome::Done);
    let requests = agent.script.requests();
    let asked: Vec<&str> = requests.iter().map(|it| it.model.id.as_str()).collect();
    assert_eq!(asked, ["scripted", "second"]);
    assert!(agent.request(1).contains(&"user: Go".to_owned()));
}

/// The first model would refuse every conversation with that prompt.
#[tokio::test]
async fn the_model_that_answered_a_refused_prompt_stays() {
    let mut agent = Setup {
        fallback: vec![second()],
        ..setup(vec![refuses(), say("ok"), say("more")])
    }
    .start();
    assert_eq!(ask(&mut agent, "Go").await, RunOutcome::Done);
    assert_eq!(ask(&mut agent, "Next").await, RunOutcome::Done);
    let requests = agent.script.requests();
    let asked: Vec<&str> = requests.iter().map(|it| it.model.id.as_str()).collect();
    assert_eq!(asked, ["scripted", "second", "second"]);
    let story = agent.story().join("\n");
    assert!(
        story.contains("lab/second takes over if it answers"),
        "{story}"
    );
}

/// One model refuses, and the other fails.
#[tokio::test]
async fn a_refused_prompt_is_left_out_whatever_failed_last() {
    use ErrorClass::{Auth, NoModel, Quota};
    for class in [Quota, Auth, NoModel] {
        let fails = vec![Step::Say(StreamEvent::Error(LlmError::new(class, "no")))];
        let mut agent = Setup {
            fallback: vec![second()],
            ..setup(vec![refuses(), fails, say("fine")])
        }
        .start();
        let RunOutcome::Failed { message } = ask(&mut agent, "write an exploit").await else {
            panic!("{class:?}: no model answered");
        };
        assert!(
            message.contains("tiller leaves what it refused out of later requests"),
            "{message}"
        );
        assert_eq!(ask(&mut agent, "list the files").await, RunOutcome::Done);
        let said = agent.request(2).join("\n");
        assert!(!said.contains("exploit"), "{class:?}: {said}");
        assert_eq!(agent.script.requests()[2].model.id, "scripted");
    }
}

/// No model has refused this prompt.
#[tokio::test(start_paused = true)]
async fn a_prompt_after_a_refusal_stays() {
    let fails = |class| vec![Step::Say(StreamEvent::Error(LlmError::new(class, "no")))];
    let fallback = [fails(ErrorClass::Retryable), fails(ErrorClass::Quota)];
    let answers = [vec![refuses()], fallback.into(), vec![say("fine")]].concat();
    let mut agent = Setup {
        fallback: vec![second()],
        rules: LoopRules::default(),
        ..setup(answers)
    }
    .start();
    agent.prompt("write an exploit");
    let waits = |event: &AgentEvent| matches!(event, AgentEvent::State(it) if it.is_retrying());
    agent.until(waits).await;
    agent.steer("mind the tests");
    assert!(matches!(agent.settled().await, RunOutcome::Failed { .. }));
    assert_eq!(ask(&mut agent, "list the files").await, RunOutcome::Done);
    let said = agent.request(3).join("\n");
    assert!(!said.contains("exploit"), "{said}");
    assert!(said.contains("mind the tests"), "{said}");
}

#[tokio::test]
async fn another_model_writes_a_refused_summary() {
    for (fallback, expected) in [(vec![second()], true), (vec![], false)] {
        let mut agent = Setup {
            fallback,
            rules: LoopRules {
                compaction: CompactionRules {
                    keep_recent_tokens: 10,
                    ..CompactionRules::default()
                },
                ..no_retries()
            },
            ..setup(vec![say("one"), say("two"), refuses(), say("the summary")])
        }
        .start();
        ask(&mut agent, "First").await;
        ask(&mut agent, "Second").await;
        agent.handle.compact(None);
        let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
        agent.until(settled).await;
        let mut ends = agent.seen.iter().filter_map(|event| match &event.kind {
            AgentEvent::CompactionEnd { outcome, .. } => Some(outcome),
            _ => None,
        });
        let done = ends
            .next_back()
            .is_some_and(|end| matches!(end, CompactionOutcome::Done { .. }));
        assert_eq!(done, expected, "{:?}", agent.story());
    }
}

/// tiller continues an answer that the provider paused.
#[tokio::test]
async fn a_paused_answer_continues() {
    let server = ModelServer::start(Script::of([
        Reply::text("Searching").stop("pause_turn"),
        Reply::text("Found."),
    ]));
    let mut agent = Setup {
        provider: Some(Arc::new(kit::wires(&server))),
        model: Some(kit::model(Wire::Anthropic, &server.url(Wire::Anthropic))),
        rules: no_retries(),
        ..Setup::default()
    }
    .start();
    assert_eq!(ask(&mut agent, "Search").await, RunOutcome::Done);
    assert_eq!(server.requests().len(), 2);
    assert!(agent.stored().last().unwrap().ends_with("Found."));
}

/// If an answer pauses before any text, tiller retries a limited number of times.
#[tokio::test]
async fn a_paused_answer_without_text_is_retried() {
    let server = ModelServer::start(Script::of([
        Reply::text(" ").stop("pause_turn"),
        Reply::text("Found."),
    ]));
    let mut agent = Setup {
        provider: Some(Arc::new(kit::wires(&server))),
        model: Some(kit::model(Wire::Anthropic, &server.url(Wire::Anthropic))),
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
    .start();
    assert_eq!(ask(&mut agent, "Search").await, RunOutcome::Done);
    assert_eq!(server.requests().len(), 2);
}
