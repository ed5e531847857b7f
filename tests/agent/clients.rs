//! Several clients of one agent: each gets back what it has sent or stopped, and none loses text.

use serde_json::json;
use tiller::agent::{AgentEvent, Answer, Delivery, Queued, RunOutcome};
use tiller::llm::Content;
use tiller::llm::message::content_text;

use super::fixture::*;
use super::killed::{external, queued_after_a_kill};

/// The next messages that return, and the client that gets them.
async fn returned(agent: &mut TestAgent) -> (Vec<String>, u64) {
    let returned = agent.until(|event| matches!(event, AgentEvent::QueueReturned { .. }));
    let AgentEvent::QueueReturned { messages, to } = returned.await else {
        unreachable!()
    };
    let text = |queued: &Queued| content_text(&queued.content);
    (messages.iter().map(text).collect(), to)
}

fn back(text: &str, to: u64) -> (Vec<String>, u64) {
    (vec![text.to_owned()], to)
}

#[tokio::test]
async fn messages_return_to_the_client_that_sent_them() {
    let mut agent = agent(vec![], vec![]);
    let other = agent.handle.for_client(1);
    let text = |text: &str| vec![Content::text(text)];
    // There was nothing to stop, so nothing returns to this client later.
    other.abort();
    agent.handle.begin_trial(text("mine"));
    assert_eq!(returned(&mut agent).await, back("mine", 0));
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    other.begin_trial(text("yours"));
    assert_eq!(returned(&mut agent).await, back("yours", 1));
    other.answer(7, Answer::Reply("late".into()));
    assert_eq!(returned(&mut agent).await, back("late", 1));
}

#[tokio::test]
async fn the_queue_returns_to_the_client_that_stops_the_run() {
    let gate = Gate::new();
    let waits = || vec![start(), Step::Wait(gate.clone())];
    let mut agent = agent(vec![waits(), waits()], vec![]);
    for (client, stops) in [agent.handle.for_client(1), agent.handle.clone()]
        .into_iter()
        .zip([1, 0])
    {
        agent.prompt("Go");
        gate.reached().await;
        agent.steer("steered");
        client.abort();
        assert_eq!(returned(&mut agent).await, back("steered", stops));
        assert_eq!(agent.settled().await, RunOutcome::Aborted);
    }
}

#[tokio::test]
async fn a_run_can_be_stopped_before_it_starts() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "write", json!({}))]), say("not sent")],
        vec![("write", false, Act::Write(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    agent.handle.abort();
    let Ok(Delivery::Started(next)) = agent.handle.submit(external("next")).await else {
        panic!("it starts the next run")
    };
    agent.handle.for_client(1).abort_run(next);
    gate.open();
    let end = |event: &AgentEvent| matches!(event, AgentEvent::AgentEnd { .. });
    agent.until(end).await;
    assert_ne!(agent.seen.last().unwrap().run, Some(next));
    assert_eq!(returned(&mut agent).await, back("next", 1));
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert_eq!(agent.seen.last().unwrap().run, Some(next));
    assert_eq!(agent.script.requests().len(), 1);
}

// The sender can't know that the agent no longer reads commands.
#[tokio::test]
async fn a_message_sent_during_the_shutdown_stays_in_the_session() {
    let gate = Gate::new();
    let agent = agent(vec![vec![start(), Step::Wait(gate.clone())]], vec![]);
    agent.prompt("Go");
    gate.reached().await;
    tokio::join!(agent.handle.shutdown(), async {
        agent
            .handle
            .for_client(1)
            .follow_up(vec![Content::text("late")]);
    });
    assert_eq!(queued_after_a_kill(&agent), ["late"]);
}
