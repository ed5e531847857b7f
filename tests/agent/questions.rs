//! Calls that wait for an answer to a question.

use serde_json::{Value, json};
use tiller::agent::tools::{ToolSettings, builtin};
use tiller::agent::{AgentEvent, Answer, Phase, Question, RunOutcome, RunState, Subject, Toolbox};

use super::fixture::*;

fn asking(has_user: bool, questions: &[(&str, Value)]) -> TestAgent {
    let calls: Vec<_> = questions
        .iter()
        .map(|(id, args)| (*id, "ask_user", args.clone()))
        .collect();
    Setup {
        answers: vec![call(&calls), say("Thanks."), say("Later.")],
        toolbox: Some(Toolbox::new(builtin(&ToolSettings::default()))),
        has_user,
        ..Setup::default()
    }
    .start()
}

fn database() -> Value {
    json!({"question": "Which database?", "choices": ["Postgres", "SQLite"]})
}

/// The open questions, once there are `count`.
async fn open(agent: &mut TestAgent, count: usize) -> Vec<Question> {
    let is_it =
        |event: &AgentEvent| matches!(event, AgentEvent::Questions { open } if open.len() == count);
    let AgentEvent::Questions { open } = agent.until(is_it).await else {
        unreachable!()
    };
    open.iter()
        .map(|question| Question::clone(question))
        .collect()
}

fn asks(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::State(RunState::Running { phase }) if *phase == Phase::Asking)
}

#[tokio::test]
async fn an_answer_of_each_kind_reaches_the_model() {
    for (answer, told) in [
        (
            Answer::Reply("SQLite".into()),
            "c1: The user answered: SQLite",
        ),
        (
            Answer::Refuse {
                reason: Some("none at all".into()),
            },
            "c1: The user chose none and answered: none at all",
        ),
        (
            Answer::Refuse { reason: None },
            "c1!: The user did not answer. Continue as you think best, or stop.",
        ),
    ] {
        let mut agent = asking(true, &[("c1", database())]);
        agent.prompt("Go");
        let questions = open(&mut agent, 1).await;
        assert_eq!(
            (&*questions[0].call_id, &*questions[0].tool),
            ("c1", "ask_user")
        );
        let Subject::Choice(choice) = &questions[0].subject else {
            panic!("{questions:?}")
        };
        assert_eq!(choice.question, "Which database?");
        assert_eq!(choice.choices, ["Postgres", "SQLite"]);
        agent.until(asks).await;
        agent.handle.answer(questions[0].id, answer.clone());
        assert_eq!(open(&mut agent, 0).await, []);
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert_eq!(agent.request(1).last().unwrap(), told, "{answer:?}");
        // A late answer from another front end changes nothing.
        agent.handle.answer(questions[0].id, answer);
        agent.prompt("More");
        assert_eq!(agent.settled().await, RunOutcome::Done);
    }
}

#[tokio::test]
async fn open_questions_can_be_answered_in_any_order() {
    let mut agent = asking(
        true,
        &[
            ("c1", json!({"question": "A?"})),
            ("c2", json!({"question": "B?"})),
        ],
    );
    agent.prompt("Go");
    let questions = open(&mut agent, 2).await;
    let of = |call: &str| {
        let mut questions = questions.iter();
        questions.find(|it| it.call_id == call).unwrap().id
    };
    let (first, second) = (of("c1"), of("c2"));
    agent.handle.answer(second, Answer::Reply("b".into()));
    let left = open(&mut agent, 1).await;
    assert_eq!(left[0].id, first);
    agent.handle.answer(first, Answer::Reply("a".into()));
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.request(1)[2..],
        ["c1: The user answered: a", "c2: The user answered: b"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_questions_of_a_turn_are_asked_in_the_order_of_its_calls() {
    let ids: Vec<String> = (0..12).map(|n| format!("c{n}")).collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), json!({"question": id})))
        .collect();
    let mut agent = asking(true, &questions);
    agent.prompt("Go");
    for count in 1..=ids.len() {
        let asked: Vec<String> = open(&mut agent, count)
            .await
            .into_iter()
            .map(|question| question.call_id)
            .collect();
        assert_eq!(asked, ids[..count]);
    }
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
}

#[tokio::test]
async fn an_abort_or_steering_now_removes_the_question() {
    let mut agent = asking(true, &[("c1", database())]);
    agent.prompt("Go");
    open(&mut agent, 1).await;
    agent.handle.abort();
    assert_eq!(open(&mut agent, 0).await, []);
    assert_eq!(agent.settled().await, RunOutcome::Aborted);

    let mut agent = asking(true, &[("c1", database())]);
    agent.prompt("Go");
    open(&mut agent, 1).await;
    agent.steer("never mind");
    agent.handle.steer_now();
    assert_eq!(open(&mut agent, 0).await, []);
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.request(1).last().unwrap(), "user: never mind");
}

#[tokio::test]
async fn without_a_user_the_model_hears_that_no_one_can_answer() {
    let mut agent = asking(false, &[("c1", database())]);
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let told = agent.request(1).pop().unwrap();
    assert!(
        told.starts_with("c1!: This run can't ask the user"),
        "{told}"
    );
}

/// An answer to a question that has just ended returns to the editor.
#[tokio::test]
async fn a_late_answer_returns_to_the_editor() {
    let mut agent = asking(true, &[("c1", database())]);
    agent.prompt("Go");
    let id = open(&mut agent, 1).await[0].id;
    agent.handle.abort();
    agent
        .handle
        .answer(id, Answer::Reply("MySQL, please".into()));
    let returned = agent
        .until(|event| matches!(event, AgentEvent::QueueReturned { .. }))
        .await;
    let AgentEvent::QueueReturned { messages, .. } = returned else {
        unreachable!()
    };
    assert_eq!(
        messages[0].content,
        [tiller::llm::Content::text("MySQL, please")]
    );
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert!(!agent.stored().iter().any(|line| line.contains("MySQL")));
}
