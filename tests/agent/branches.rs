//! Continuing the conversation from another entry: what is sent, what is stored, and that nothing
//! is lost.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use tiller::agent::session::{Body, BranchTail, Comparison, NodeId, Session};
use tiller::agent::{AgentEvent, Leaving};
use tiller::llm::message::content_text;
use tiller::llm::{ErrorClass, LlmError, Message, Model, StreamEvent, WindowSource};

use super::fixture::{self, Act, Gate, Setup, Step, TestAgent, agent, call, say, sized};

/// The id of the stored message that holds `text`.
fn id_of(agent: &TestAgent, text: &str) -> String {
    let entries = agent.entries();
    let found = entries
        .iter()
        .filter(|entry| entry["type"] == "message")
        .find(|entry| entry["message"].to_string().contains(text));
    found.expect(text)["id"].as_str().unwrap().to_owned()
}

async fn moved(agent: &mut TestAgent) -> (Vec<String>, Option<String>) {
    let moved = |event: &AgentEvent| matches!(event, AgentEvent::Moved { .. });
    let AgentEvent::Moved { facts, prompt, .. } = agent.until(moved).await else {
        unreachable!()
    };
    let (session, _) = Session::look(&agent.session).unwrap();
    let messages = session.history().messages;
    assert_eq!(facts.count, messages.len());
    let messages = messages.iter().map(|it| fixture::message_line(it));
    (messages.collect(), prompt.as_deref().map(content_text))
}

async fn ask(agent: &mut TestAgent, text: &str) {
    agent.prompt(text);
    agent.settled().await;
}

#[tokio::test]
async fn editing_a_prompt_begins_a_branch_at_its_place() {
    let answers = ["one", "two", "other two", "again two"].map(say).to_vec();
    let mut agent = agent(answers, vec![]);
    ask(&mut agent, "first").await;
    ask(&mut agent, "second").await;
    let before = fs::read(&agent.session).unwrap();
    let second = id_of(&agent, "second");
    agent.handle.go_to(second, Leaving::Silently);
    let (messages, prompt) = moved(&mut agent).await;
    assert_eq!(messages, ["user: first", "assistant: one"]);
    assert_eq!(prompt.as_deref(), Some("second"));
    ask(&mut agent, "another second").await;
    assert_eq!(
        agent.request(2),
        ["user: first", "assistant: one", "user: another second"]
    );

    // Return to the end of the abandoned branch.
    let two = id_of(&agent, "\"two\"");
    agent.handle.go_to(two, Leaving::Silently);
    let (messages, prompt) = moved(&mut agent).await;
    assert_eq!(messages.last().unwrap(), "assistant: two");
    assert_eq!(prompt, None);
    agent.handle.edit_last_prompt();
    assert_eq!(moved(&mut agent).await.1.as_deref(), Some("second"));
    let after = fs::read(&agent.session).unwrap();
    assert!(after.starts_with(&before), "the file was rewritten");

    // The session remembers the current entry.
    agent.handle.shutdown().await;
    let (session, _) =
        Session::open(&agent.folder.path().join("sessions"), &agent.session).unwrap();
    let said: Vec<_> = session
        .history()
        .messages
        .iter()
        .map(|it| it.text())
        .collect();
    assert_eq!(said, ["first", "one"]);
}

#[tokio::test]
async fn the_first_prompt_can_be_edited_too() {
    let mut agent = agent(["one", "two"].map(say).to_vec(), vec![]);
    ask(&mut agent, "first").await;
    agent.handle.edit_last_prompt();
    assert_eq!(moved(&mut agent).await, (vec![], Some("first".into())));
    ask(&mut agent, "another").await;
    assert_eq!(agent.request(1), ["user: another"]);
    // The prompt is for the front end that went back.
    agent.handle.for_client(3).edit_last_prompt();
    let moved = |event: &AgentEvent| matches!(event, AgentEvent::Moved { to: 3, .. });
    agent.until(moved).await;
    let requests = agent.script.requests();
    assert_eq!(requests[0].system, requests[1].system);
}

#[tokio::test]
async fn calls_keep_their_results_on_every_branch() {
    let calls = call(&[("a", "read", json!({})), ("b", "read", json!({}))]);
    let tools = vec![("read", true, Act::Succeed("fine".into()))];
    for at in ["toolCall", "\"a\",\"toolName", "\"b\",\"toolName"] {
        let answers = vec![calls.clone(), say("done"), say("on")];
        let mut agent = agent(answers, tools.clone());
        ask(&mut agent, "first").await;
        let entries = agent.entries();
        let chosen = entries
            .iter()
            .find(|entry| entry.to_string().contains(at))
            .expect(at);
        agent
            .handle
            .go_to(chosen["id"].as_str().unwrap().to_owned(), Leaving::Silently);
        moved(&mut agent).await;
        ask(&mut agent, "next").await;
        assert_eq!(
            agent.request(2),
            [
                "user: first",
                "assistant: [a b]",
                "a: fine",
                "b: fine",
                "user: next"
            ],
            "{at}"
        );
    }
}

#[tokio::test]
async fn no_move_during_a_run_or_to_an_unknown_entry() {
    let gate = Gate::new();
    let mut waiting = vec![fixture::start(), Step::Wait(gate.clone())];
    waiting.extend(say("two").into_iter().skip(1));
    let mut agent = agent(vec![say("one"), waiting], vec![]);
    let told = |part: &'static str| move |event: &AgentEvent| matches!(event, AgentEvent::Notice { text, .. } if text.contains(part));
    agent.handle.edit_last_prompt();
    agent.until(told("No prompt to edit")).await;
    agent.handle.label(None, Some("x".into()));
    agent.until(told("Nothing to label")).await;
    ask(&mut agent, "first").await;
    agent.handle.go_to("nonsense".into(), Leaving::Silently);
    agent.until(told("no entry nonsense")).await;
    agent.prompt("second");
    gate.reached().await;
    agent
        .handle
        .go_to(id_of(&agent, "first"), Leaving::Silently);
    agent.until(told("Stop the run first")).await;
    gate.open();
    agent.settled().await;
    assert_eq!(
        agent.stored(),
        [
            "user: first",
            "assistant: one",
            "user: second",
            "assistant: two"
        ]
    );
}

#[tokio::test]
async fn leaving_a_branch_can_add_its_summary() {
    let answers = ["one", "two", "It was tried.", "three"].map(say).to_vec();
    let mut agent = agent(answers, vec![]);
    ask(&mut agent, "first").await;
    ask(&mut agent, "second").await;
    let (second, two) = (id_of(&agent, "second"), id_of(&agent, "\"two\""));
    agent.handle.go_to(second, Leaving::WithSummary);
    let (messages, prompt) = moved(&mut agent).await;
    assert_eq!(prompt.as_deref(), Some("second"));
    assert!(messages[2].contains("It was tried."), "{messages:?}");
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    agent.until(settled).await;
    // The question comes after the old conversation, and no later request has it.
    let asked = agent.request(2);
    assert_eq!(
        asked[..4],
        [
            "user: first",
            "assistant: one",
            "user: second",
            "assistant: two"
        ]
    );
    assert!(asked[4].ends_with("begins with this message:\nsecond"));
    ask(&mut agent, "another").await;
    let request = agent.request(3);
    assert_eq!(request.len(), 4, "{request:?}");
    assert_eq!(request[1], "assistant: one");
    assert!(request[2].starts_with("summary: ") && request[2].contains("It was tried."));
    assert_eq!(request[3], "user: another");
    let entries = agent.entries();
    let summary = entries
        .iter()
        .find(|entry| entry["type"] == "branch_summary")
        .unwrap();
    assert_eq!(summary["fromId"], two.as_str());
    assert_eq!(summary["summary"], "It was tried.");

    // Leaving no entries makes no summary.
    let last = id_of(&agent, "three");
    agent.handle.go_to(last, Leaving::WithSummary);
    moved(&mut agent).await;
    assert_eq!(agent.script.requests().len(), 4);
}

// Only the branch's own files are listed, not those from before it.
#[tokio::test]
async fn a_summary_lists_the_files_of_its_branch() {
    let read = |path: &str| call(&[("r", "read", json!({ "file_path": path }))]);
    let mut agent = Setup {
        answers: vec![
            read("before"),
            say("one"),
            read("a"),
            call(&[("w", "write", json!({"file_path": "b"}))]),
            say("two"),
            sized(say("It was tried."), 70),
        ],
        tools: vec![
            ("read", true, Act::Succeed("content".into())),
            ("write", false, Act::Succeed("written".into())),
        ],
        ..Setup::default()
    }
    .start();
    ask(&mut agent, "first").await;
    ask(&mut agent, "second").await;
    agent
        .handle
        .go_to(id_of(&agent, "second"), Leaving::WithSummary);
    let spent = agent
        .until(|event| matches!(event, AgentEvent::Spent { .. }))
        .await;
    assert!(matches!(spent, AgentEvent::Spent { usage, .. } if usage.input == 70));
    let (messages, _) = moved(&mut agent).await;
    let last = messages.last().unwrap();
    assert!(
        last.contains("It was tried.") && last.contains("- b"),
        "{last}"
    );
    let entries = agent.entries();
    let summary = entries.iter().find(|it| it["type"] == "branch_summary");
    let summary = summary.unwrap();
    let files = json!({"readFiles": ["a"], "modifiedFiles": ["b"]});
    assert_eq!(summary["details"], files);
    assert_eq!(summary["usage"]["input"], 70);
    assert!(
        entries.iter().all(|it| it["type"] != "usage"),
        "counted twice"
    );
}

#[tokio::test]
async fn a_branch_that_is_too_long_is_summarized_from_its_end() {
    let overflow = || {
        let error = LlmError::new(ErrorClass::Overflow, "prompt is too long");
        vec![Step::Say(StreamEvent::Error(error))]
    };
    for (window, refusals) in [(0, 1), (0, 4), (20_000, 0)] {
        let mut answers: Vec<_> = (0..10).map(|n| say(&format!("answer {n}"))).collect();
        answers.extend((0..refusals).map(|_| overflow()));
        answers.push(say("It was tried."));
        let mut rules = fixture::no_retries();
        rules.compaction.enabled = false;
        let mut agent = Setup {
            answers,
            model: Some(Model {
                context_window: window,
                window_source: WindowSource::Model,
                ..fixture::model()
            }),
            rules,
            ..Setup::default()
        }
        .start();
        for n in 0..10 {
            // Each message has about 2,900 tokens.
            ask(&mut agent, &format!("{n}: {}", "word ".repeat(2000))).await;
        }
        agent
            .handle
            .go_to(id_of(&agent, "\"1: word"), Leaving::WithSummary);
        let (messages, _) = moved(&mut agent).await;
        assert!(messages.last().unwrap().contains("It was tried."));
        let request = agent.script.requests().pop().unwrap();
        let said = agent.request(10 + refusals);
        assert!(
            said.iter().all(|it| !it.starts_with("user: 0:")),
            "{refusals}"
        );
        assert!(said.iter().any(|it| it == "assistant: answer 9"));
        assert_eq!(request.thinking_from, request.messages.len() - 1);
        assert_eq!(
            said[0].contains("left out here"),
            refusals == 4,
            "{}",
            said[0]
        );
    }
}

#[tokio::test]
async fn a_failed_summary_keeps_the_branch_open() {
    let gate = Gate::new();
    let waiting = vec![fixture::start(), Step::Wait(gate.clone())];
    let calls = call(&[("a", "read", json!({}))]);
    let mut agent = Setup {
        answers: vec![say("one"), calls.clone(), calls, waiting],
        rules: fixture::no_retries(),
        ..Setup::default()
    }
    .start();
    ask(&mut agent, "first").await;
    let told = |part: &'static str| move |event: &AgentEvent| matches!(event, AgentEvent::Notice { text, .. } if text.contains(part));
    let first = id_of(&agent, "first");
    agent.handle.go_to(first.clone(), Leaving::WithSummary);
    agent.until(told("called a tool")).await;
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    agent.until(settled).await;
    agent.handle.go_to(first, Leaving::WithSummary);
    gate.reached().await;
    agent.handle.abort();
    agent.until(told("Summary stopped")).await;
    agent.until(settled).await;
    let snapshot = agent.handle.tree().await.unwrap();
    let tree = snapshot.tree();
    let one = tree.find(&id_of(&agent, "one")).unwrap();
    assert!(tree.ancestors(tree.leaf().unwrap()).any(|node| node == one));
}

#[tokio::test]
async fn messages_typed_during_a_failed_move_stay_in_the_queue() {
    let gate = Gate::new();
    let error = LlmError::new(ErrorClass::Client, "no way");
    let fails = vec![
        Step::Wait(gate.clone()),
        Step::Say(StreamEvent::Error(error)),
    ];
    let mut agent = Setup {
        answers: vec![say("one"), fails, say("two")],
        rules: fixture::no_retries(),
        ..Setup::default()
    }
    .start();
    ask(&mut agent, "first").await;
    agent
        .handle
        .go_to(id_of(&agent, "first"), Leaving::WithSummary);
    gate.reached().await;
    agent.steer("for elsewhere");
    gate.open();
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    agent.until(settled).await;
    assert_eq!(agent.script.requests().len(), 2);
    // The message waits until the user decides where it goes.
    agent.handle.steer_now();
    agent.settled().await;
    assert_eq!(
        agent.request(2),
        ["user: first", "assistant: one", "user: for elsewhere"]
    );
}

#[tokio::test]
async fn labels_are_stored_and_removed() {
    let mut agent = agent(["one"].map(say).to_vec(), vec![]);
    ask(&mut agent, "first").await;
    let (one, first) = (id_of(&agent, "one"), id_of(&agent, "first"));
    agent.handle.label(None, Some("here".into()));
    agent
        .handle
        .label(Some(first.clone()), Some("there".into()));
    agent.handle.label(Some(first.clone()), None);
    let snapshot = agent.handle.tree().await.unwrap();
    let label = |id: &str| {
        let tree = snapshot.tree();
        tree.label(tree.find(id).unwrap()).map(str::to_owned)
    };
    assert_eq!(
        (label(&one).as_deref(), label(&first)),
        (Some("here"), None)
    );
    let labels: Vec<_> = agent.entries();
    let mut labels = labels.iter().rev();
    let last = labels.find(|entry| entry["type"] == "label").unwrap();
    assert_eq!(last["targetId"], first.as_str());
    assert!(
        last.get("label").is_none(),
        "removing a label writes no `label` key, as pi does: {last}"
    );
}

#[tokio::test]
async fn moving_keeps_the_chosen_model() {
    let mut agent = Setup {
        answers: ["one", "two"].map(say).to_vec(),
        ..Setup::default()
    }
    .start();
    ask(&mut agent, "first").await;
    let mut other = fixture::model();
    other.id = "other".into();
    agent.handle.set_model(other);
    agent.handle.edit_last_prompt();
    moved(&mut agent).await;
    ask(&mut agent, "again").await;
    assert_eq!(agent.script.requests()[1].model.id, "other");
    agent.handle.shutdown().await;
    let root = agent.folder.path().join("sessions");
    let (session, _) = Session::open(&root, &agent.session).unwrap();
    assert_eq!(session.model().unwrap().model_id, "other");
}

#[tokio::test]
async fn two_branches_are_compared_from_their_fork() {
    let edits = call(&[("a", "edit", json!({"n": 1, "path": "src/a.rs"}))]);
    let tools = vec![("edit", true, Act::Succeed("fine".into()))];
    let answers = vec![say("one"), edits, say("two"), say("three")];
    let mut agent = agent(answers, tools);
    ask(&mut agent, "first").await;
    ask(&mut agent, "second").await;
    agent.handle.edit_last_prompt();
    moved(&mut agent).await;
    ask(&mut agent, "another second").await;
    agent.handle.label(None, Some("the other".into()));
    let session = agent.handle.tree().await.unwrap();
    let tree = session.tree();
    let (a, b) = tree.branches_named(&[]).unwrap();
    let it = Comparison::new(&session, a, b).unwrap();
    assert_eq!(it.common_ancestor.unwrap().text, "one");
    let prompts = |tail: &BranchTail| -> Vec<String> {
        tail.prompts
            .iter()
            .map(|prompt| prompt.text.clone())
            .collect()
    };
    assert_eq!(prompts(&it.a), ["another second"]);
    assert_eq!(it.a.end.label.as_deref(), Some("the other"));
    assert_eq!((it.a.entries, it.a.model_calls), (2, 1));
    assert_eq!(prompts(&it.b), ["second"]);
    assert_eq!((it.b.entries, it.b.model_calls), (4, 2));
    assert_eq!(it.b.tool_calls["edit"], 1);
    assert_eq!(it.b.modified_files, ["src/a.rs"]);

    // By label, by the beginning of an id, and in the other order.
    let second = id_of(&agent, "\"two\"");
    let named = |names: &[&str]| tree.branches_named(names);
    assert_eq!(named(&[&second]), Ok((a, b)));
    let (b_too, a_too) = named(&[&second[..6], "the other"]).unwrap();
    assert_eq!((tree.id(a_too), b_too), (&*id_of(&agent, "three"), b));
    for (names, error) in [
        (
            &["nonsense"][..],
            "no entry has the label or the id 'nonsense'",
        ),
        (&[""], "no entry has the label or the id ''"),
        (&["a", "b", "c"], "give two branches, not 3"),
    ] {
        assert_eq!(named(names), Err(error.to_owned()));
    }
}

#[tokio::test]
async fn comparing_needs_two_branches() {
    let mut agent = agent(vec![say("one")], vec![]);
    ask(&mut agent, "first").await;
    let session = agent.handle.tree().await.unwrap();
    let error = session.tree().branches_named(&[]).unwrap_err();
    assert!(error.contains("only one branch"), "{error}");
}

/// A change to a tree: send so many messages, or continue from some entry (0 for the start).
#[derive(Clone, Debug)]
enum Change {
    Say(u8),
    GoTo(usize),
    Label(usize),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Change>> {
    let step = prop_oneof![
        3 => (1..4_u8).prop_map(Change::Say),
        3 => any::<usize>().prop_map(Change::GoTo),
        1 => any::<usize>().prop_map(Change::Label),
        1 => Just(Change::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #[test]
    fn every_path_of_a_random_tree_is_reachable_and_the_file_only_grows(steps in steps()) {
        let root = tempfile::tempdir().unwrap();
        let mut session = Session::create(root.path(), Path::new("/w"));
        let path = session.path().unwrap().to_owned();
        // The messages on the path to each message, by text. The last path is the current one.
        let mut said: Vec<(NodeId, Vec<String>)> = Vec::new();
        let mut now: Vec<String> = Vec::new();
        let mut before = Vec::new();
        for step in steps {
            match step {
                Change::Say(count) => for _ in 0..count {
                    let text = format!("m{}", said.len());
                    now.push(text.clone());
                    let message = Arc::new(Message::user(text, 1));
                    prop_assert_eq!(session.append(Body::Message { message }), None);
                    said.push((session.tree().leaf().unwrap(), now.clone()));
                },
                Change::GoTo(at) => {
                    let at = at % (said.len() + 1);
                    let target = at.checked_sub(1).map(|at| &said[at]);
                    prop_assert_eq!(session.go_to(target.map(|it| it.0)), None);
                    now = target.map(|it| it.1.clone()).unwrap_or_default();
                }
                Change::Label(at) => if !said.is_empty() {
                    let node = said[at % said.len()].0;
                    let target_id = session.tree().id(node).to_owned();
                    let label = Some(String::from("here"));
                    session.append(Body::Label { target_id, label });
                },
                Change::Reopen => if path.exists() {
                    drop(session);
                    let (opened, problems) = Session::open(root.path(), &path).unwrap();
                    prop_assert_eq!(problems, Vec::<String>::new());
                    session = opened;
                },
            }
            let texts: Vec<_> = session.history().messages.iter().map(|it| it.text()).collect();
            prop_assert_eq!(&texts, &now);
            let file = fs::read(&path).unwrap_or_default();
            prop_assert!(file.starts_with(&before));
            before = file;
        }
        // Check every path, in an agent's snapshot and after a restart.
        let snapshot = session.snapshot();
        for (node, path) in &said {
            let mut texts = Vec::new();
            for node in snapshot.tree().path(*node) {
                if let Some(Body::Message { message }) = snapshot.entry(node).unwrap().body {
                    texts.push(message.text());
                }
            }
            prop_assert_eq!(&texts, path);
        }
        for (node, path) in &said {
            session.go_to(Some(*node));
            let texts: Vec<_> = session.history().messages.iter().map(|it| it.text()).collect();
            prop_assert_eq!(&texts, path);
        }
    }
}
