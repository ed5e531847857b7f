//! Conversations that outgrow the window, over each wire. The mock server counts tokens and rejects
//! what is too long. It also checks each request against its vendor's rules and its prefix.

use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Weak};

use serde_json::json;
use tiller::agent::{
    AgentEvent, CompactionOutcome, CompactionRules, LoopRules, RetryRules, RunOutcome,
};
use tiller::llm::{Message, Model, WindowSource};

use super::fixture::{Act, Setup, Step, TestAgent, call, say};
use crate::llm::kit;
use crate::support::model_server::{Failure, ModelServer, Reply, Said, Script, Wire};

/// A part of the summary request.
const QUESTION: &str = "about to be shortened";

fn start(server: &ModelServer, wire: Wire, window: u64, results: &str) -> TestAgent {
    Setup {
        provider: Some(Arc::new(kit::wires(server))),
        model: Some(Model {
            context_window: window,
            window_source: WindowSource::Model,
            max_output: 2000,
            ..kit::model(wire, &server.url(wire))
        }),
        rules: LoopRules {
            retry: RetryRules {
                max: 0,
                ..RetryRules::default()
            },
            // The calls repeat themselves, which doesn't matter here.
            loop_guard: tiller::agent::LoopGuardRules {
                enabled: false,
                ..Default::default()
            },
            compaction: CompactionRules {
                keep_recent_tokens: 2000,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        tools: vec![("read", true, Act::Succeed(results.to_owned()))],
        ..Setup::default()
    }
    .start()
}

fn summary(text: &str) -> Reply {
    Reply::text(text).when(QUESTION).repeat()
}

fn ends(agent: &TestAgent) -> Vec<&CompactionOutcome> {
    let ends = agent.seen.iter().filter_map(|event| match &event.kind {
        AgentEvent::CompactionEnd { outcome, .. } => Some(outcome),
        _ => None,
    });
    ends.collect()
}

async fn ask(agent: &mut TestAgent, text: &str) -> RunOutcome {
    agent.prompt(text);
    agent.settled().await
}

/// Sends prompts with four model calls each: three call a tool, the last one answers. Each prompt
/// has a different length.
async fn converse(wire: Wire, prompts: usize) -> (ModelServer, TestAgent) {
    let window = 16_000;
    let server = ModelServer::start(Script::of([summary("What happened so far.")]));
    server.count_tokens(window);
    let mut agent = start(&server, wire, window, &"line of a file\n".repeat(150));
    for prompt in 0..prompts {
        for call in 0..3 {
            let path = format!("src/part_{}/file_{call}.rs", prompt % 7);
            let reply = match (prompt + call) % 5 {
                0 => Reply::new().think("Let me look."),
                _ => Reply::new(),
            };
            server.push(reply.and_call("read", json!({ "n": call, "file_path": path })));
        }
        server.push(Reply::text(
            format!("Answer {prompt}. ").repeat(prompt % 60 + 1),
        ));
        let text = format!("Prompt {prompt}. ").repeat(prompt * 7 % 40 + 1);
        assert_eq!(ask(&mut agent, &text).await, RunOutcome::Done, "{prompt}");
        // Keep only the events that the test checks.
        let is_end = |event: &AgentEvent| matches!(event, AgentEvent::CompactionEnd { .. });
        agent.seen.retain(|event| is_end(&event.kind));
        assert!(server.largest() <= window);
    }
    (server, agent)
}

#[tokio::test]
async fn a_small_window_holds_two_thousand_turns() {
    for (wire, prompts) in [
        (Wire::Anthropic, 500),
        (Wire::Responses, 50),
        (Wire::Chat, 50),
        (Wire::Google, 50),
    ] {
        let (server, agent) = converse(wire, prompts).await;
        let entries = agent.entries();
        let count = |fits: &dyn Fn(&serde_json::Value) -> bool| {
            entries.iter().filter(|entry| fits(entry)).count()
        };
        let turns = count(&|entry| entry["message"]["role"] == "assistant");
        assert_eq!(turns, prompts * 4, "{wire:?}");
        let made = count(&|entry| entry["type"] == "compaction");
        let pruned = count(&|entry| entry["type"] == "context_edit");
        println!(
            "{wire:?}: {turns} turns, {made} compactions, {pruned} results left out, at most {} tokens",
            server.largest()
        );
        // Each turn adds about 700 tokens to a window of 16,000.
        assert!(
            made + pruned / 6 >= prompts / 8,
            "{wire:?}: {made} {pruned}"
        );
        assert!(made <= prompts, "{wire:?}: {made}");
        let done = |end: &&&CompactionOutcome| matches!(end, CompactionOutcome::Done { .. });
        let ends = ends(&agent);
        assert_eq!(ends.iter().filter(done).count(), made, "{wire:?}");
        assert_eq!(ends.len(), made, "{wire:?}: {ends:?}");
        // The last request still has the user's first words.
        let last = server.requests().pop().unwrap();
        assert!(last.text().contains("> Prompt 0."), "{wire:?}");
    }
}

/// How the provider rejects a request, and what follows.
struct Overflow {
    name: &'static str,
    /// The replies after the first answer.
    replies: fn() -> Vec<Reply>,
    outcome: Result<(), &'static str>,
    /// The total of model calls.
    calls: usize,
    compactions: usize,
}

const OVERFLOWS: &[Overflow] = &[
    Overflow {
        name: "once",
        replies: || vec![too_long(), Reply::text("Summary."), Reply::text("Done.")],
        outcome: Ok(()),
        calls: 4,
        compactions: 1,
    },
    Overflow {
        name: "in the middle of a turn",
        replies: || {
            vec![
                Reply::call("read", json!({ "file_path": "a.rs" })),
                too_long(),
                Reply::text("Summary."),
                Reply::text("Done."),
            ]
        },
        outcome: Ok(()),
        calls: 5,
        compactions: 1,
    },
    Overflow {
        name: "of the request for the summary too",
        replies: || {
            vec![
                too_long(),
                too_long(),
                Reply::text("Summary."),
                Reply::text("Done."),
            ]
        },
        outcome: Ok(()),
        calls: 5,
        compactions: 1,
    },
    Overflow {
        name: "twice",
        replies: || vec![too_long(), Reply::text("Summary."), too_long()],
        outcome: Err("It is too long even when compacted"),
        calls: 4,
        compactions: 1,
    },
    Overflow {
        name: "without a summary",
        replies: || vec![too_long(), Reply::error(Failure::Invalid)],
        outcome: Err(""),
        calls: 3,
        compactions: 0,
    },
];

fn too_long() -> Reply {
    Reply::error(Failure::Overflow)
}

#[tokio::test]
async fn an_overflow_compacts_and_retries_once_on_every_wire() {
    for wire in Wire::ALL {
        for case in OVERFLOWS {
            let name = format!("{wire:?}: {}", case.name);
            let server = ModelServer::start(Script::of([]));
            let mut agent = start(&server, wire, 0, "fine");
            for turn in 0..3 {
                server.push(Reply::new().think("So.").say(format!("Answer {turn}.")));
                ask(&mut agent, &format!("Ask {turn}. {}", "x".repeat(9000))).await;
            }
            for reply in (case.replies)() {
                server.push(reply);
            }
            let outcome = ask(&mut agent, "Now").await;
            assert_eq!(server.requests().len() - 2, case.calls, "{name}");
            let done = |end: &&&CompactionOutcome| matches!(end, CompactionOutcome::Done { .. });
            let compactions = ends(&agent).iter().filter(done).count();
            assert_eq!(compactions, case.compactions, "{name}");
            match (&outcome, case.outcome) {
                (RunOutcome::Done, Ok(())) => {
                    let last = server.requests().pop().unwrap();
                    let said = last.said();
                    let first = said.iter().find_map(|said| match said {
                        Said::User(text) => Some(text.as_str()),
                        _ => None,
                    });
                    let first = first.unwrap_or_default();
                    assert!(first.contains("<summary>\nSummary."), "{name}: {first}");
                    assert!(first.contains("> Ask 0. "), "{name}: {first}");
                }
                (RunOutcome::Failed { message }, Err(says)) => {
                    assert!(message.contains(says), "{name}: {message}");
                    // Nothing is lost, and the conversation continues.
                    server.push(Reply::text("Well."));
                    assert_eq!(ask(&mut agent, "Again").await, RunOutcome::Done, "{name}");
                }
                (outcome, _) => panic!("{name}: {outcome:?}"),
            }
        }
    }
}

/// An agent without compaction whose tool results have this many lines.
fn reading(lines: usize, answers: Vec<Vec<Step>>) -> TestAgent {
    let read = call(&[("a", "read", json!({"file_path": "a.rs"}))]);
    let text = "line of a file\n".repeat(lines);
    Setup {
        answers: [vec![read], answers].concat(),
        tools: vec![("read", true, Act::Succeed(text))],
        rules: LoopRules {
            compaction: CompactionRules {
                enabled: false,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start()
}

/// A new run reads large results again from the session, which a finished run drops from memory.
#[tokio::test]
async fn a_conversation_dropped_from_memory_continues_word_for_word() {
    for (lines, held) in [(10, true), (80_000, false)] {
        let mut agent = reading(lines, vec![say("One."), say("Two."), say("Three.")]);
        for text in ["First", "Second", "Third"] {
            assert_eq!(ask(&mut agent, text).await, RunOutcome::Done);
        }
        let requests = agent.script.requests();
        let said = |at: usize| {
            let messages = requests[at].messages.iter();
            messages.map(|it| (it.text(), it.content().len()))
        };
        for at in 1..4 {
            let before: Vec<_> = said(at - 1).collect();
            assert_eq!(said(at).take(before.len()).collect::<Vec<_>>(), before);
            assert_eq!(requests[at].system, requests[0].system);
        }
        let same = |at: usize| {
            let (one, other) = (&requests[at - 1].messages[0], &requests[at].messages[0]);
            Arc::ptr_eq(one, other)
        };
        assert!(same(1), "the messages changed within one run");
        assert_eq!([same(2), same(3)], [held, held], "{lines} lines");
        assert_eq!(requests[3].messages.len(), 7, "{lines} lines");
    }
}

/// Someone changes the file. The model gets less than before, and tiller tells the user once.
#[tokio::test]
async fn the_user_hears_once_of_messages_that_cannot_be_read() {
    let mut agent = reading(80_000, vec![say("One."), say("Two."), say("Three.")]);
    assert_eq!(ask(&mut agent, "First").await, RunOutcome::Done);
    let text = fs::read_to_string(&agent.session).unwrap();
    let said = text.find("\"role\":\"user\"").unwrap();
    let at = (said + text[said..].find("\"text\":\"First\"").unwrap()) as u64;
    let file = fs::File::options().write(true).open(&agent.session);
    file.unwrap().write_all_at(b"#", at).unwrap();
    for text in ["Second", "Third"] {
        assert_eq!(ask(&mut agent, text).await, RunOutcome::Done);
    }
    let told = agent.seen.iter().filter(|event| {
        matches!(&event.kind, AgentEvent::Notice { text, .. } if text.contains("Unreadable entries"))
    });
    assert_eq!(told.count(), 1);
}

/// Memory of a run doesn't grow with the conversation: it holds what the model reads, and ids.
#[tokio::test]
async fn a_run_holds_what_its_model_reads_and_no_more() {
    let (window, turns) = (16_000, 90);
    let server = ModelServer::start(Script::of([summary("What happened so far.")]));
    server.count_tokens(window);
    let mut agent = start(
        &server,
        Wire::Anthropic,
        window,
        &"line of a file\n".repeat(150),
    );
    for call in 0..turns {
        server.push(Reply::new().and_call("read", json!({ "n": call })));
    }
    server.push(Reply::text("Done."));
    agent.prompt("Go");
    let mut said: Vec<Weak<Message>> = Vec::new();
    let messages = loop {
        match agent.next().await {
            AgentEvent::MessageEnd { message } => said.push(Arc::downgrade(&message)),
            AgentEvent::AgentEnd { messages, .. } => break messages,
            _ => {}
        }
        agent.seen.clear();
    };
    agent.seen.clear();
    assert_eq!(said.len(), 2 * turns + 2);
    let held = said.iter().filter(|message| message.strong_count() > 0);
    let held = held.count();
    assert!(held < 50, "{held} of {} messages are held", said.len());
    // A reader that wants all messages gets them from the session.
    let all = messages.read();
    assert_eq!((messages.len(), all.len()), (said.len(), said.len()));
    assert_eq!(all[0].text(), "Go");
    assert_eq!(all.last().unwrap().text(), "Done.");
    assert!(messages.end().len() <= 4);
}
