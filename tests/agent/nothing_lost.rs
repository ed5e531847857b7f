//! Whatever a user does and however it falls together with what the run does: every message
//! typed is in the conversation, or was given back, exactly once; and every call has one result.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::AgentEvent;
use tiller::llm::message::content_text;

use super::fixture::*;

#[derive(Clone, Copy, Debug)]
enum Deed {
    Prompt,
    Steer,
    FollowUp,
    SteerNow,
    TakeBack,
    Abort,
    GoOn,
    /// Lets whatever waits at the gate go on.
    OpenGate,
    /// Lets the agent work for a while.
    Yield(u8),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        3 => Just(Deed::Prompt),
        3 => Just(Deed::Steer),
        3 => Just(Deed::FollowUp),
        1 => Just(Deed::SteerNow),
        1 => Just(Deed::TakeBack),
        2 => Just(Deed::Abort),
        1 => Just(Deed::GoOn),
        4 => Just(Deed::OpenGate),
        5 => (0u8..60).prop_map(Deed::Yield),
    ];
    proptest::collection::vec(deed, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn nothing_typed_is_lost(deeds in deeds(), two_threads: bool) {
        let mut runtime = if two_threads {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        runtime.worker_threads(2).enable_all().build().unwrap().block_on(play(deeds));
    }

    // D7, H: batches of messages and aborts that the agent reads together.
    #[test]
    fn no_request_leaves_after_an_abort_but_for_what_was_typed_behind_it(
        deeds in proptest::collection::vec(
            prop_oneof![
                3 => Just(Deed::Prompt),
                2 => Just(Deed::Steer),
                2 => Just(Deed::FollowUp),
                3 => Just(Deed::Abort),
                2 => Just(Deed::OpenGate),
                3 => (0u8..30).prop_map(Deed::Yield),
            ],
            1..40,
        ),
    ) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(play_strictly(deeds));
    }
}

/// Plays `deeds` and holds each request against the last abort before it: what it adds to the
/// conversation was typed later.
async fn play_strictly(deeds: Vec<Deed>) {
    let played = play(deeds).await;
    for abort in &played.aborts {
        for request in &played.requests[abort.requests..] {
            let last = request.iter().rev().find_map(|line| {
                line.strip_prefix("user: typed ")
                    .map(|n| n.parse::<usize>().unwrap())
            });
            assert!(last >= Some(abort.typed), "{request:?} after {abort:?}");
        }
    }
}

/// What an abort found.
#[derive(Debug)]
struct Abort {
    /// Messages typed before it.
    typed: usize,
    /// Requests made before it.
    requests: usize,
}

struct Played {
    aborts: Vec<Abort>,
    requests: Vec<Vec<String>>,
}

async fn play(deeds: Vec<Deed>) -> Played {
    let gate = Gate::new();
    let mut answers = Vec::new();
    for n in 0..100 {
        let id = format!("c{n}");
        let mut answer = call(&[
            (id.as_str(), "slow", json!({})),
            (id.as_str(), "slow", json!({})),
        ]);
        if n % 3 == 0 {
            answer.insert(2, Step::Wait(gate.clone()));
        }
        answers.push(answer);
        answers.push(say("done"));
    }
    let mut bench = bench(answers, vec![("slow", false, Act::Obey(gate.clone()))]);
    let mut typed = Vec::new();
    let mut aborts = Vec::new();
    for deed in deeds {
        let mut text = || {
            typed.push(format!("typed {}", typed.len()));
            typed.last().unwrap().clone()
        };
        match deed {
            Deed::Prompt => bench.prompt(&text()),
            Deed::Steer => bench.steer(&text()),
            Deed::FollowUp => bench.follow_up(&text()),
            Deed::SteerNow => bench.handle.steer_now(),
            Deed::TakeBack => bench.handle.take_back(None),
            Deed::Abort => {
                bench.handle.abort();
                aborts.push(Abort {
                    typed: typed.len(),
                    requests: bench.script.requests().len(),
                });
            }
            Deed::GoOn => bench.handle.go_on(),
            Deed::OpenGate => gate.open(),
            Deed::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            }
        }
        while let Ok(event) = bench.events.try_recv() {
            bench.seen.push(event);
        }
    }
    // Whatever still waits comes back now.
    bench.handle.abort();
    bench.handle.take_back(None);
    within(bench.handle.shutdown()).await;
    while let Some(event) = within(bench.events.recv()).await {
        bench.seen.push(event);
    }

    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let (mut calls, mut results, mut depth) = (0, 0, 0);
    for event in &bench.seen {
        match &event.kind {
            AgentEvent::MessageEnd { message } => {
                let line = message_line(message);
                if let Some(text) = line.strip_prefix("user: ") {
                    *found.entry(text.to_owned()).or_default() += 1;
                }
                calls += match &**message {
                    tiller::llm::Message::Assistant(answer) => answer.tool_calls().count(),
                    _ => 0,
                };
                results += usize::from(matches!(**message, tiller::llm::Message::ToolResult(_)));
            }
            AgentEvent::QueueReturned { messages } => {
                for queued in messages {
                    *found.entry(content_text(&queued.content)).or_default() += 1;
                }
            }
            AgentEvent::AgentStart => depth += 1,
            AgentEvent::AgentEnd { .. } => depth -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&depth));
    }
    assert_eq!(depth, 0, "a run has not ended");
    assert_eq!(calls, results);
    for text in &typed {
        assert_eq!(
            found.get(text),
            Some(&1),
            "{text} of {typed:?} in {:?}",
            bench.story()
        );
    }
    assert_eq!(found.len(), typed.len());
    let requests = bench.script.requests();
    Played {
        aborts,
        requests: (0..requests.len()).map(|n| bench.request(n)).collect(),
    }
}
