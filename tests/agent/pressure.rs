//! Event readers that are slow, stuck, or many.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tiller::agent::{AgentEvent, Event, RunOutcome, SlowReader};
use tiller::llm::{AssistantMessage, Message, StopReason, ThinkingLevel};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::fixture::*;

fn long_answer(deltas: usize) -> (Vec<Step>, String) {
    let mut steps = vec![start(), text_block(0, "")[0].clone()];
    let mut text = String::new();
    for n in 0..deltas {
        let piece = format!("{n} ");
        steps.push(delta(0, &piece));
        text.push_str(&piece);
    }
    steps.push(done(StopReason::Stop));
    (steps, text)
}

/// Joins the deltas as a screen does.
fn folded(events: &[Arc<Event>]) -> String {
    let mut message = AssistantMessage::default();
    for event in events {
        if let AgentEvent::MessageUpdate { event } = &event.kind {
            message.apply(event);
        }
    }
    Message::Assistant(message).text()
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_deltas_reach_a_slow_reader_in_order() {
    let (answer, text) = long_answer(10_000);
    let mut agent = agent(vec![answer], vec![]);
    let mut slow = agent.handle.subscribe(SlowReader::Drop);
    let reader = tokio::spawn(async move {
        let mut events: Vec<Arc<Event>> = Vec::new();
        while let Some(event) = slow.recv().await {
            // All other tasks get ahead of this reader.
            for _ in 0..event.seq % 7 {
                tokio::task::yield_now().await;
            }
            let settled = matches!(event.kind, AgentEvent::AgentSettled { .. });
            events.push(event);
            if settled {
                break;
            }
        }
        events
    });
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let slow_seen = reader.await.unwrap();
    assert_eq!(folded(&agent.seen), text);
    assert_eq!(folded(&slow_seen), text);
    // Two readers see the same sequence.
    let seqs = |events: &[Arc<Event>]| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let first = slow_seen[0].seq;
    let both: Vec<_> = seqs(&agent.seen)
        .into_iter()
        .filter(|seq| *seq >= first)
        .collect();
    assert_eq!(seqs(&slow_seen), both);
    assert!(both.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(agent.stored()[1], format!("assistant: {text}"));
}

#[tokio::test(start_paused = true)]
async fn memory_is_bounded_while_a_reader_sleeps() {
    let (answer, _) = long_answer(10_000);
    let agent = agent(vec![answer], vec![]);
    agent.prompt("Go");
    // Without a reader, the agent reads from the stream only what the buffers hold.
    eventually(|| agent.events.len() == 256).await;
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(agent.script.live_streams(), 1);
    assert_eq!(agent.events.len(), 256);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_reader_is_dropped_and_the_others_hear_of_it() {
    let (answer, text) = long_answer(2_000);
    let mut agent = agent(vec![answer, say("ok")], vec![]);
    let stuck = agent.handle.subscribe(SlowReader::Drop);
    agent.prompt("Go");
    // The file reads before a request take real time, which would count as a stall.
    let script = Arc::clone(&agent.script);
    eventually(|| !script.requests().is_empty()).await;
    let start = Instant::now();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(folded(&agent.seen), text);
    let story = agent.story();
    let told = story
        .iter()
        .filter(|line| line.starts_with("notice Warning An event reader"));
    assert_eq!(told.count(), 1);
    drop(stuck);
}

// The only reader of a run can be slow: it isn't dropped and loses nothing.
#[tokio::test(start_paused = true)]
async fn a_reader_that_the_agent_waits_for_loses_nothing() {
    let (answer, text) = long_answer(2_000);
    let mut agent = agent(vec![answer], vec![]);
    let mut patient = agent.handle.subscribe(SlowReader::Wait);
    agent.prompt("Go");
    // The file reads before a request take real time.
    let script = Arc::clone(&agent.script);
    eventually(|| !script.requests().is_empty()).await;
    for _ in 0..600 {
        tokio::time::advance(Duration::from_millis(100)).await;
        while let Ok(event) = agent.events.try_recv() {
            agent.seen.push(event);
        }
    }
    assert_eq!(patient.len(), 256, "the agent did not wait for the reader");
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(event) if is_settled(event)) {
        while let Ok(event) = agent.events.try_recv() {
            agent.seen.push(event);
        }
        seen.push(within(patient.recv()).await.expect("dropped"));
    }
    assert_eq!(folded(&seen), text);
}

fn is_settled(event: &Arc<Event>) -> bool {
    matches!(event.kind, AgentEvent::AgentSettled { .. })
}

// An abort doesn't wait for a reader, and the reader still gets the end.
#[tokio::test(start_paused = true)]
async fn an_abort_does_not_wait_for_a_stuck_reader() {
    let (answer, _) = long_answer(10_000);
    let mut agent = agent(vec![answer, say("ok")], vec![]);
    agent.prompt("Go");
    eventually(|| agent.events.len() == 256).await;
    let start = Instant::now();
    agent.handle.abort();
    eventually(|| agent.script.live_streams() == 0).await;
    assert!(start.elapsed() < Duration::from_millis(100));
    // The agent still answers commands.
    let mut late = agent.handle.subscribe(SlowReader::Drop);
    agent.handle.set_thinking(ThinkingLevel::High);
    let first = within(late.recv()).await.unwrap();
    assert!(
        matches!(first.kind, AgentEvent::ModelChanged { .. }),
        "{first:?}"
    );
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    agent.prompt("again");
    assert_eq!(agent.settled().await, RunOutcome::Done);
}

#[tokio::test]
async fn readers_can_come_and_go() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({}))]), say("ok")],
        vec![("a", false, Act::Gate(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    drop(agent.handle.subscribe(SlowReader::Drop));
    let mut late: mpsc::Receiver<Arc<Event>> = agent.handle.subscribe(SlowReader::Drop);
    agent.steer("x");
    let first = within(late.recv()).await.unwrap();
    assert!(matches!(first.kind, AgentEvent::QueueUpdate { .. }));
    gate.open();
    agent.settled().await;
}
