//! Random user actions at random times of a run. Every typed message ends up in the conversation or
//! back with the user, exactly once. Every call has one result.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::AgentEvent;
use tiller::llm::message::content_text;

use super::fixture::*;

#[derive(Clone, Copy, Debug)]
enum UserAction {
    Prompt,
    Steer,
    FollowUp,
    /// Another program sends a message.
    External,
    SteerNow,
    TakeBack,
    Abort,
    GoOn,
    /// Opens the gate for one waiter.
    OpenGate,
    /// Yields to the agent for a while.
    Yield(u8),
}

fn actions() -> impl Strategy<Value = Vec<UserAction>> {
    let action = prop_oneof![
        3 => Just(UserAction::Prompt),
        3 => Just(UserAction::Steer),
        3 => Just(UserAction::FollowUp),
        2 => Just(UserAction::External),
        1 => Just(UserAction::SteerNow),
        1 => Just(UserAction::TakeBack),
        2 => Just(UserAction::Abort),
        1 => Just(UserAction::GoOn),
        4 => Just(UserAction::OpenGate),
        5 => (0u8..60).prop_map(UserAction::Yield),
    ];
    proptest::collection::vec(action, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn nothing_typed_is_lost(actions in actions(), two_threads: bool, has_user: bool) {
        let mut runtime = if two_threads {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        runtime.worker_threads(2).enable_all().build().unwrap().block_on(play(actions, has_user));
    }

    // Batches of messages and aborts that the agent reads together.
    #[test]
    fn a_request_after_an_abort_needs_a_later_message(
        actions in proptest::collection::vec(
            prop_oneof![
                3 => Just(UserAction::Prompt),
                2 => Just(UserAction::Steer),
                2 => Just(UserAction::FollowUp),
                3 => Just(UserAction::Abort),
                2 => Just(UserAction::OpenGate),
                3 => (0u8..30).prop_map(UserAction::Yield),
            ],
            1..40,
        ),
    ) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(play_strictly(actions));
    }
}

/// Plays `actions` and checks each request after an abort: it must contain a message typed later.
async fn play_strictly(actions: Vec<UserAction>) {
    let played = play(actions, false).await;
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

/// The state at an abort.
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

/// With a user, a returned message is taken at once, as the screen does.
async fn play(actions: Vec<UserAction>, has_user: bool) -> Played {
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
    let mut agent = Setup {
        answers,
        tools: vec![("slow", false, Act::Obey(gate.clone()))],
        has_user,
        ..Setup::default()
    }
    .start();
    let mut typed = Vec::new();
    let mut kept = Vec::new();
    let mut aborts = Vec::new();
    for action in actions {
        let mut text = || {
            typed.push(format!("typed {}", typed.len()));
            typed.last().unwrap().clone()
        };
        match action {
            UserAction::Prompt => agent.prompt(&text()),
            UserAction::Steer => agent.steer(&text()),
            UserAction::FollowUp => agent.follow_up(&text()),
            UserAction::External => {
                let text = text();
                let message = super::killed::external(&text);
                within(agent.handle.submit(message)).await.unwrap();
                let kept = std::fs::read_to_string(&agent.session).unwrap();
                assert!(
                    kept.contains(&format!("\"{text}\"")),
                    "{text} was accepted but not stored"
                );
            }
            UserAction::SteerNow => agent.handle.steer_now(),
            UserAction::TakeBack => agent.handle.take_back(None),
            UserAction::Abort => {
                agent.handle.abort();
                aborts.push(Abort {
                    typed: typed.len(),
                    requests: agent.script.requests().len(),
                });
            }
            UserAction::GoOn => agent.handle.go_on(),
            UserAction::OpenGate => gate.open(),
            UserAction::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            }
        }
        while let Ok(event) = agent.events.try_recv() {
            if let AgentEvent::QueueReturned { messages, .. } = &event.kind
                && has_user
            {
                agent
                    .handle
                    .release(messages.iter().map(|it| it.id).collect());
                kept.extend(messages.iter().map(|it| content_text(&it.content)));
            }
            agent.seen.push(event);
        }
    }
    // Return everything that is still queued.
    agent.handle.abort();
    agent.handle.take_back(None);
    within(agent.handle.shutdown()).await;
    while let Some(event) = within(agent.events.recv()).await {
        agent.seen.push(event);
    }

    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let (mut calls, mut results, mut depth) = (0, 0, 0);
    for event in &agent.seen {
        match &event.kind {
            AgentEvent::MessageEnd { message } => {
                let line = message_line(message);
                let mut users = ["user: ", "steer: "].iter();
                if let Some(text) = users.find_map(|who| line.strip_prefix(who)) {
                    *found.entry(text.to_owned()).or_default() += 1;
                }
                calls += match &**message {
                    tiller::llm::Message::Assistant(answer) => answer.tool_calls().count(),
                    _ => 0,
                };
                results += usize::from(matches!(**message, tiller::llm::Message::ToolResult(_)));
            }
            AgentEvent::AgentStart => depth += 1,
            AgentEvent::AgentEnd { .. } => depth -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&depth));
    }
    // The session keeps the queue. It also keeps returned messages that no one has taken.
    if agent.session.exists() {
        kept.extend(super::killed::queued_after_a_kill(&agent));
    }
    for text in kept {
        *found.entry(text).or_default() += 1;
    }
    assert_eq!(depth, 0, "a run has not ended");
    assert_eq!(calls, results);
    for text in &typed {
        assert_eq!(
            found.get(text),
            Some(&1),
            "{text} of {typed:?} in {:?}",
            agent.story()
        );
    }
    assert_eq!(found.len(), typed.len());
    let requests = agent.script.requests();
    Played {
        aborts,
        requests: (0..requests.len()).map(|n| agent.request(n)).collect(),
    }
}
