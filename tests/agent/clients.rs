//! Several clients of one agent: each gets back what it has sent or stopped, and none loses text.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::{AgentEvent, Answer, Delivery, Queued, RunOutcome};
use tiller::llm::message::content_text;
use tiller::llm::{Content, Message, StopReason, StreamEvent};

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

// No file stores the text of its editor.
#[tokio::test]
async fn what_a_client_leaves_behind_returns_to_the_first_one() {
    let gate = Gate::new();
    let waits = || vec![start(), Step::Wait(gate.clone())];
    let mut agent = agent(vec![waits(), waits()], vec![]);
    let other = agent.handle.for_client(1);
    agent.prompt("Go");
    gate.reached().await;
    agent.steer("sent");
    agent.steer("left");
    other.abort();
    let back_to_other = agent.until(|event| matches!(event, AgentEvent::QueueReturned { .. }));
    let AgentEvent::QueueReturned { messages, to: 1 } = back_to_other.await else {
        panic!("they return to the client that stopped the run")
    };
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    other.release(vec![messages[0].id]);
    other.detach();
    assert_eq!(returned(&mut agent).await, back("left", 0));
    agent.handle.release(vec![messages[1].id]);
    // It stopped a run and left before the run ended.
    agent.prompt("Again");
    gate.reached().await;
    agent.steer("late");
    other.abort();
    assert_eq!(returned(&mut agent).await, back("late", 0));
}

#[tokio::test]
async fn a_client_that_joins_during_an_answer_gets_what_it_missed() {
    let gate = Gate::new();
    let mut second = text_block(1, "two ");
    second.splice(2..2, [delta(1, "three"), Step::Wait(gate.clone())]);
    let mut answer = vec![start()];
    answer.extend(text_block(0, "one"));
    answer.extend(second);
    answer.push(done(StopReason::Stop));
    let mut agent = agent(vec![answer], vec![]);
    agent.prompt("Go");
    let is_last = |event: &AgentEvent| matches!(event, AgentEvent::MessageUpdate { event: StreamEvent::BlockDelta { delta, .. } } if delta == "three");
    agent.until(is_last).await;
    let (_, mut events) = agent.handle.resubscribe().await.unwrap();
    gate.open();
    let (mut folded, mut deltas) = (None, 0);
    let whole = loop {
        match &within(events.recv()).await.unwrap().kind {
            AgentEvent::MessageStart { message } => folded = Some(Message::clone(message)),
            AgentEvent::MessageUpdate { event } => {
                let Some(Message::Assistant(message)) = &mut folded else {
                    panic!("an update without its start: {event:?}")
                };
                message.apply(event);
                deltas += usize::from(matches!(event, StreamEvent::BlockDelta { .. }));
            }
            AgentEvent::MessageEnd { message } => break Arc::clone(message),
            _ => {}
        }
    };
    assert_eq!(whole.text(), folded.unwrap().text());
    assert!(whole.text().contains("two three"), "{}", whole.text());
    // The pieces of a block arrive as one.
    assert_eq!(deltas, 2);
}
