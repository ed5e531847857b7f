//! Compaction: when it happens, what is asked and kept, what is stored, and how it fails.

use std::sync::Arc;

use serde_json::{Value, json};
use tiller::agent::session::{SUMMARY_ORIGIN, Session};
use tiller::agent::{
    AgentEvent, CompactionOutcome, CompactionReason, CompactionRules, Leaving, LoopRules,
    RunOutcome,
};
use tiller::llm::{
    EditFormat, ErrorClass, LlmError, Message, Model, Request, StopReason, StreamEvent,
    WindowSource,
};

use super::fixture::{
    Act, Gate, Setup, Step, TestAgent, call, done, message_line, model, no_retries, say, sized,
};

fn windowed(window: u64) -> Model {
    Model {
        context_window: window,
        window_source: WindowSource::Model,
        ..model()
    }
}

fn fail(class: ErrorClass, text: &str) -> Vec<Step> {
    vec![Step::Say(StreamEvent::Error(LlmError::new(class, text)))]
}

fn rules() -> LoopRules {
    LoopRules {
        compaction: CompactionRules {
            keep_recent_tokens: 10,
            ..CompactionRules::default()
        },
        ..no_retries()
    }
}

fn start(answers: Vec<Vec<Step>>, window: u64) -> TestAgent {
    Setup {
        answers,
        model: Some(windowed(window)),
        rules: rules(),
        tools: vec![("read", true, Act::Succeed("content".into()))],
        ..Setup::default()
    }
    .start()
}

async fn ask(agent: &mut TestAgent, text: &str) -> RunOutcome {
    agent.prompt(text);
    agent.settled().await
}

fn ends(agent: &TestAgent) -> Vec<CompactionOutcome> {
    let ends = agent.seen.iter().filter_map(|event| match &event.kind {
        AgentEvent::CompactionEnd { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    ends.collect()
}

fn lines(request: &Request) -> Vec<String> {
    let lines = request.messages.iter().map(|message| message_line(message));
    lines
        .map(|line| line.lines().next().unwrap_or_default().to_owned())
        .collect()
}

fn events(agent: &TestAgent) -> Vec<String> {
    let entries = agent.entries().into_iter();
    let events = entries.filter(|entry| entry["customType"] == "tiller.event");
    events
        .map(|entry| entry["data"]["event"].as_str().unwrap().to_owned())
        .filter(|event| event.starts_with("compaction"))
        .collect()
}

/// The conversation as another agent reads it from the file.
fn reopened(agent: &TestAgent) -> Vec<Arc<Message>> {
    let copy = tempfile::tempdir().unwrap();
    let (session, problems) = Session::fork(copy.path(), &agent.session, &agent.cwd).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    session.history().messages
}

#[tokio::test]
async fn a_full_window_is_compacted_before_the_next_call() {
    let answers = vec![
        sized(say("one"), 160_000),
        sized(say("two"), 161_000),
        say("what was said"),
        say("three"),
        say("four"),
    ];
    let mut agent = start(answers, 200_000);
    for text in ["First", "Second", "Third"] {
        assert_eq!(ask(&mut agent, text).await, RunOutcome::Done);
    }
    let requests = agent.script.requests();
    assert_eq!(requests.len(), 4, "160k of 200k was not compacted");
    // The summary request is the conversation plus one message.
    assert_eq!(
        lines(&requests[2])[..5],
        [
            "user: First",
            "assistant: one",
            "user: Second",
            "assistant: two",
            "user: Third"
        ]
    );
    let question = requests[2].messages.last().unwrap().text();
    for part in ["Done", "In progress", "Files", "Next steps", "Constraints"] {
        assert!(question.contains(part), "{part}");
    }
    assert_eq!(
        (requests[2].system.clone(), requests[2].tools.len()),
        (requests[1].system.clone(), 1)
    );
    let after = lines(&requests[3]);
    assert!(after[0].starts_with("summary: "), "{after:?}");
    assert_eq!(after.last().unwrap(), "user: Third");
    assert_eq!(requests[3].thinking_from, requests[3].messages.len());
    assert!(requests[3].messages[0].text().contains("what was said"));

    let CompactionOutcome::Done {
        tokens_before,
        tokens_after,
        first_kept_entry_id,
        ..
    } = ends(&agent).remove(0)
    else {
        panic!("{:?}", ends(&agent));
    };
    assert!(
        tokens_before > 160_000 && tokens_after < 2_000,
        "{tokens_before} {tokens_after}"
    );
    let entries = agent.entries();
    let entry = entries
        .iter()
        .find(|entry| entry["type"] == "compaction")
        .unwrap();
    assert_eq!(entry["firstKeptEntryId"], first_kept_entry_id.as_str());
    assert_eq!(entry["tokensBefore"], tokens_before);
    assert_eq!(
        events(&agent),
        ["compaction_triggered", "compaction_complete"]
    );
    // The file keeps all messages.
    assert_eq!(
        agent
            .stored()
            .iter()
            .filter(|line| line.starts_with("user: "))
            .count(),
        3
    );

    // An agent that opens the session gets the same conversation.
    let mut expected = requests[3].messages.clone();
    let stored = reopened(&agent);
    expected.push(Arc::clone(stored.last().unwrap()));
    assert_eq!(stored, expected);
    assert_eq!(ask(&mut agent, "Fourth").await, RunOutcome::Done);
    let last = agent.script.requests().pop().unwrap();
    assert_eq!(last.messages[..stored.len()], stored);
    assert_eq!(last.thinking_from, requests[3].thinking_from);
}

#[tokio::test]
async fn an_overflow_compacts_and_retries_the_turn_once() {
    let overflow = || fail(ErrorClass::Overflow, "prompt is too long");
    for (again, expected) in [
        (say("done"), RunOutcome::Done),
        (overflow(), RunOutcome::Done),
    ] {
        let second = matches!(&again[0], Step::Say(StreamEvent::Error(_)));
        let answers = vec![
            say("one"),
            overflow(),
            say("the summary"),
            again,
            say("never asked"),
        ];
        let mut agent = start(answers, 0);
        ask(&mut agent, "First").await;
        let outcome = ask(&mut agent, "Second").await;
        let requests = agent.script.requests();
        assert_eq!(requests.len(), 4);
        assert!(lines(&requests[2]).len() < lines(&requests[1]).len() + 1);
        let retried = lines(&requests[3]);
        assert!(retried[0].starts_with("summary: "), "{retried:?}");
        assert_eq!(retried.last().unwrap(), "user: Second");
        if second {
            let RunOutcome::Failed { message } = outcome else {
                panic!("{outcome:?}");
            };
            assert!(message.contains("prompt is too long"), "{message}");
        } else {
            assert_eq!(outcome, expected);
        }
    }
}

/// A failed summary still costs.
#[tokio::test]
async fn failed_summaries_are_stored_and_reported_with_their_cost() {
    let calls = || sized(call(&[("a", "read", json!({}))]), 40);
    let mut half = sized(say("half"), 30);
    half.pop();
    half.push(Step::Say(StreamEvent::Error(LlmError::new(
        ErrorClass::Client,
        "reset",
    ))));
    for (answers, expected) in [
        (vec![calls(), calls()], 80),
        (vec![calls(), half], 70),
        (vec![fail(ErrorClass::Client, "no")], 0),
    ] {
        let mut agent = start([vec![say("one"), say("two")], answers].concat(), 0);
        ask(&mut agent, "First").await;
        ask(&mut agent, "Second").await;
        agent.handle.compact(None);
        agent
            .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
            .await;
        assert!(matches!(
            &ends(&agent)[..],
            [CompactionOutcome::Failed { .. }]
        ));
        let told = agent.seen.iter().filter_map(|event| match &event.kind {
            AgentEvent::Spent { usage, .. } => Some(usage.input),
            _ => None,
        });
        assert_eq!(told.sum::<u64>(), expected);
        let entries = agent.entries().into_iter();
        let stored: Vec<Value> = entries.filter(|it| it["type"] == "usage").collect();
        assert_eq!(stored.len(), usize::from(expected > 0));
        for entry in stored {
            assert_eq!(entry["kind"], "compaction");
            assert_eq!(
                (&entry["provider"], &entry["model"]),
                (&json!("lab"), &json!("scripted"))
            );
            assert_eq!(entry["usage"]["input"], expected);
        }
    }
}

/// The total that the screen adds up equals the total reported on resume.
#[tokio::test]
async fn a_resume_reports_the_same_cost() {
    let calls = || sized(call(&[("a", "read", json!({}))]), 40);
    let answers = vec![
        sized(say("one"), 1000),
        sized(say("two"), 2000),
        calls(),
        calls(),
        sized(say("the summary"), 300),
        sized(say("three"), 5000),
        sized(say("the branch"), 7),
    ];
    let mut agent = start(answers, 0);
    ask(&mut agent, "First").await;
    ask(&mut agent, "Second").await;
    for _ in 0..2 {
        agent.handle.compact(None);
        let ended = |event: &AgentEvent| matches!(event, AgentEvent::CompactionEnd { .. });
        agent.until(ended).await;
        let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
        agent.until(settled).await;
    }
    let [
        CompactionOutcome::Failed { .. },
        CompactionOutcome::Done { tokens_after, .. },
    ] = ends(&agent)[..]
    else {
        panic!("{:?}", ends(&agent));
    };
    ask(&mut agent, "Third").await;
    let mut entries = agent.entries().into_iter();
    let third = entries.find(|it| it["message"].to_string().contains("Third"));
    let third = third.unwrap()["id"].as_str().unwrap().to_owned();
    agent.handle.go_to(third, Leaving::WithSummary);
    let moved = |event: &AgentEvent| matches!(event, AgentEvent::Moved { .. });
    let AgentEvent::Moved { facts: live, .. } = agent.until(moved).await else {
        unreachable!()
    };
    let told = agent.seen.iter().filter_map(|event| match &event.kind {
        AgentEvent::MessageEnd { message } => match &**message {
            Message::Assistant(answer) => Some(answer.usage.input),
            _ => None,
        },
        AgentEvent::Spent { usage, .. }
        | AgentEvent::CompactionEnd {
            outcome: CompactionOutcome::Done { usage, .. },
            ..
        } => Some(usage.input),
        _ => None,
    });
    assert_eq!(told.sum::<u64>(), 8387);
    agent.handle.shutdown().await;
    let stored = Session::look(&agent.session).unwrap().0.facts();
    for facts in [&*live, &stored] {
        assert_eq!(facts.usage.input, 8387);
        assert_eq!(facts.context_tokens, tokens_after);
    }
}

/// If the provider rejects the summary request as too large, the next one has less text.
#[tokio::test]
async fn a_summary_request_that_is_too_large_is_made_smaller() {
    for class in [ErrorClass::Overflow, ErrorClass::Allowance] {
        let mut answers: Vec<_> = (0..8).map(|n| say(&format!("answer {n}"))).collect();
        answers.extend([fail(class, "too large"), say("the summary")]);
        let mut agent = start(answers, 200_000);
        for n in 0..8 {
            ask(&mut agent, &format!("{n} {}", "long ".repeat(400))).await;
        }
        agent.handle.compact(None);
        let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
        agent.until(settled).await;
        let sent: Vec<usize> = (agent.script.requests()[8..].iter())
            .map(|request| request.messages.len())
            .collect();
        assert!(sent.len() == 2 && sent[1] < sent[0], "{class:?}: {sent:?}");
    }
}

#[tokio::test]
async fn a_fallback_with_a_smaller_window_compacts_again() {
    let overflow = || fail(ErrorClass::Overflow, "prompt is too long");
    let mut answers: Vec<_> = (0..8).map(|n| say(&format!("answer {n}"))).collect();
    answers.extend([
        overflow(),
        say("the summary"),
        fail(ErrorClass::Quota, "no money"),
        overflow(),
        say("a shorter one"),
        say("done"),
    ]);
    let mut agent = Setup {
        answers,
        model: Some(windowed(0)),
        fallback: vec![Model {
            id: "second".into(),
            ..windowed(0)
        }],
        rules: LoopRules {
            compaction: CompactionRules {
                keep_recent_tokens: 10_000,
                ..CompactionRules::default()
            },
            ..no_retries()
        },
        ..Setup::default()
    }
    .start();
    for n in 0..8 {
        ask(&mut agent, &format!("{n} {}", "long ".repeat(100))).await;
    }
    assert_eq!(ask(&mut agent, "Last").await, RunOutcome::Done);
    assert_eq!(ends(&agent).len(), 2);
    let requests = agent.script.requests();
    let models: Vec<_> = requests[8..]
        .iter()
        .map(|it| it.model.id.as_str())
        .collect();
    let (first, second) = ("scripted", "second");
    assert_eq!(models, [first, first, first, second, second, second]);
    let sent = |n: usize| requests[n].messages.len();
    assert!(sent(8) > sent(10) && sent(11) > sent(13), "{}", sent(11));
}

#[tokio::test]
async fn a_message_larger_than_any_window_does_not_end_the_conversation() {
    let overflow = || fail(ErrorClass::Overflow, "prompt is too long");
    let answers = vec![overflow(), overflow(), say("the summary"), say("well")];
    let mut agent = start(answers, 0);
    let long = "long ".repeat(100_000);
    let failed = ask(&mut agent, &long).await;
    assert!(matches!(failed, RunOutcome::Failed { .. }), "{failed:?}");
    assert_eq!(ask(&mut agent, "Without it, then").await, RunOutcome::Done);
    let requests = agent.script.requests();
    assert!(requests[2].messages[0].text().len() < 3000);
    let last = lines(&requests[3]);
    assert!(last[0].starts_with("summary: "), "{last:?}");
    assert_eq!(last.last().unwrap(), "user: Without it, then");
}

#[tokio::test]
async fn a_failed_summary_changes_nothing() {
    let failures = [
        (
            "an error",
            vec![fail(ErrorClass::Client, "no way")],
            "no way",
        ),
        (
            "calls",
            vec![call(&[("c9", "read", json!({}))]); 2],
            "called a tool",
        ),
        ("nothing", vec![say("  "); 2], "no summary"),
    ];
    for (name, failure, says) in failures {
        let asked = failure.len();
        let mut answers = vec![sized(say("one"), 190_000)];
        answers.extend(failure);
        answers.extend([say("two"), say("three")]);
        let mut agent = start(answers, 200_000);
        ask(&mut agent, "First").await;
        assert_eq!(ask(&mut agent, "Second").await, RunOutcome::Done, "{name}");
        let requests = agent.script.requests();
        assert_eq!(
            lines(&requests[1 + asked]),
            ["user: First", "assistant: one", "user: Second"],
            "{name}"
        );
        let outcome = ends(&agent).remove(0);
        assert!(
            matches!(&outcome, CompactionOutcome::Failed { message } if message.contains(says)),
            "{name}: {outcome:?}"
        );
        assert!(
            agent
                .entries()
                .iter()
                .all(|entry| entry["type"] != "compaction"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_answer_without_a_summary_is_asked_again_in_other_words() {
    let mut cut = say("only half of");
    cut.pop();
    cut.push(done(StopReason::Length));
    for first in [call(&[("c9", "read", json!({}))]), say(" "), cut] {
        let answers = vec![
            sized(say("one"), 190_000),
            sized(first, 1000),
            sized(say("the summary"), 1000),
            say("two"),
        ];
        let mut agent = start(answers, 200_000);
        ask(&mut agent, "First").await;
        assert_eq!(ask(&mut agent, "Second").await, RunOutcome::Done);
        let requests = agent.script.requests();
        assert_eq!(requests.len(), 4);
        let (asked, again) = (&requests[1].messages, &requests[2].messages);
        let last = asked.len() - 1;
        assert_eq!(asked[..last], again[..last], "the prefix changed");
        let (asked, again) = (asked[last].text(), again[last].text());
        assert!(again.len() > asked.len() && again.starts_with(&asked));
        assert!(again.contains("You can't call tools now"), "{again}");
        assert!(lines(&requests[3])[0].starts_with("summary: "));
        let CompactionOutcome::Done { usage, .. } = ends(&agent).remove(0) else {
            panic!("{:?}", ends(&agent));
        };
        assert_eq!(usage.input, 2000, "both answers cost");
    }
}

/// An agent whose second prompt waits for a summary. The summary ends when the gate opens.
async fn summarizing() -> (TestAgent, Arc<Gate>) {
    let gate = Gate::new();
    let mut waits = say("the summary");
    waits.insert(1, Step::Wait(Arc::clone(&gate)));
    let answers = vec![sized(say("one"), 190_000), waits, say("two")];
    let mut agent = start(answers, 200_000);
    ask(&mut agent, "First").await;
    agent.prompt("Second");
    gate.reached().await;
    (agent, gate)
}

#[tokio::test]
async fn a_model_chosen_during_a_compaction_gets_a_whole_prompt() {
    let (mut agent, gate) = summarizing().await;
    agent.handle.set_model(Model {
        id: "other".into(),
        edit_format: EditFormat::ApplyPatch,
        ..windowed(200_000)
    });
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let requests = agent.script.requests();
    let last = &requests[2];
    assert_eq!(last.model.id, "other");
    assert!(lines(last)[0].starts_with("summary: "));
    assert_eq!(last.tools.len(), 1);
    assert!(!last.system.is_empty());
    assert_eq!(last.thinking_from, last.messages.len());
}

#[tokio::test]
async fn messages_typed_during_a_compaction_go_with_the_next_call() {
    let (mut agent, gate) = summarizing().await;
    agent.steer("And this");
    gate.open();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let requests = agent.script.requests();
    assert_eq!(requests.len(), 3);
    let after = lines(&requests[2]);
    assert_eq!(after[after.len() - 2..], ["user: Second", "user: And this"]);
}

#[tokio::test]
async fn the_user_compacts_with_a_focus_and_files_are_carried_over() {
    let read = |id: &str, file: &str| call(&[(id, "read", json!({"file_path": file}))]);
    let answers = vec![
        read("c1", "a.rs"),
        say("read a"),
        say("summary one"),
        read("c2", "b.rs"),
        say("read b"),
        say("summary two"),
    ];
    let mut agent = start(answers, 0);
    ask(&mut agent, "Read a").await;
    for (prompt, summary) in [(None, "summary one"), (Some("Read b"), "summary two")] {
        if let Some(prompt) = prompt {
            ask(&mut agent, prompt).await;
        }
        agent.handle.compact(Some("the parser".into()));
        let end = agent
            .until(|event| matches!(event, AgentEvent::CompactionEnd { .. }))
            .await;
        let AgentEvent::CompactionEnd {
            reason,
            outcome: CompactionOutcome::Done { summary: text, .. },
        } = end
        else {
            panic!("{end:?}");
        };
        assert_eq!(reason, CompactionReason::Manual);
        assert!(text.starts_with(summary), "{text}");
        agent
            .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
            .await;
    }
    let question = agent.script.requests()[2].messages.last().unwrap().text();
    assert!(question.ends_with("attention to: the parser"));
    let entries = agent.entries();
    let details: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["type"] == "compaction")
        .map(|entry| &entry["details"]["readFiles"])
        .collect();
    assert_eq!(details, [&json!(["a.rs"]), &json!(["a.rs", "b.rs"])]);
    let first = &reopened(&agent)[0];
    assert!(
        matches!(&**first, Message::User(user) if user.origin.as_deref() == Some(SUMMARY_ORIGIN))
    );
}

#[tokio::test]
async fn an_abort_cancels_a_compaction() {
    let gate = Gate::new();
    let mut waits = say("late");
    waits.insert(1, Step::Wait(Arc::clone(&gate)));
    let mut agent = start(vec![say("one"), waits, say("two")], 0);
    ask(&mut agent, &"First ".repeat(20)).await;
    agent.handle.compact(None);
    gate.reached().await;
    agent.handle.abort();
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    assert_eq!(ends(&agent), [CompactionOutcome::Aborted]);
    assert_eq!(ask(&mut agent, "Second").await, RunOutcome::Done);
    let sent = agent.request(2);
    assert!(sent[0].starts_with("user: First"), "{sent:?}");
    assert_eq!(sent[1], "assistant: one");
}

// Who requested it must learn that it won't happen.
#[tokio::test]
async fn an_abort_cancels_a_compaction_that_waits_for_the_run() {
    let gate = Gate::new();
    let mut waits = say("late");
    waits.insert(1, Step::Wait(Arc::clone(&gate)));
    let mut agent = start(vec![waits], 0);
    agent.prompt("First");
    gate.reached().await;
    agent.handle.compact(None);
    agent.handle.abort();
    assert_eq!(agent.settled().await, RunOutcome::Aborted);
    assert_eq!(ends(&agent), [CompactionOutcome::Aborted]);
}

#[tokio::test]
async fn a_smaller_window_compacts_before_its_first_call() {
    let answers = vec![sized(say("one"), 30_000), say("the summary"), say("two")];
    let mut agent = start(answers, 200_000);
    ask(&mut agent, "First").await;
    agent.handle.set_model(Model {
        id: "small".into(),
        ..windowed(32_000)
    });
    assert_eq!(ask(&mut agent, "Second").await, RunOutcome::Done);
    assert_eq!(ends(&agent).len(), 1);
    let requests = agent.script.requests();
    assert_eq!(requests[1].model.id, "small");
    assert!(lines(&requests[2])[0].starts_with("summary: "));
}

#[tokio::test]
async fn an_undone_compaction_does_not_repeat_automatically() {
    let answers = vec![
        sized(say("one"), 190_000),
        say("the summary"),
        sized(say("two"), 2_000),
        sized(say("three"), 195_000),
        say("four"),
        fail(ErrorClass::Overflow, "prompt is too long"),
        say("another summary"),
        say("five"),
    ];
    let mut agent = start(answers, 200_000);
    for text in ["First", "Second", "Since"] {
        assert_eq!(ask(&mut agent, text).await, RunOutcome::Done);
    }
    agent.handle.uncompact();
    let moved = agent
        .until(|event| matches!(event, AgentEvent::Moved { .. }))
        .await;
    let AgentEvent::Moved { prompt, .. } = moved else {
        unreachable!()
    };
    let (session, _) = Session::look(&agent.session).unwrap();
    let texts: Vec<_> = (session.history().messages)
        .iter()
        .map(|message| message_line(message))
        .collect();
    assert_eq!(texts, ["user: First", "assistant: one", "user: Second"]);
    // The first prompt after the compaction returns to the editor.
    let prompt = prompt.expect("a prompt");
    assert_eq!(tiller::llm::message::content_text(&prompt), "Since");
    // 190,000 tokens are too many, but tiller compacts only after the provider rejects a request.
    ask(&mut agent, "Third").await;
    assert_eq!(agent.request(4)[..3], texts);
    ask(&mut agent, "Fourth").await;
    assert_eq!(ends(&agent).len(), 2);
    let last = agent.script.requests().pop().unwrap();
    assert!(lines(&last)[0].starts_with("summary: "));
    assert_eq!(lines(&last).last().unwrap(), "user: Fourth");
}

#[tokio::test]
async fn an_undone_compaction_does_not_repeat_after_a_resume() {
    let answers = vec![
        sized(say("one"), 190_000),
        say("the summary"),
        sized(say("two"), 2_000),
    ];
    let mut agent = start(answers, 200_000);
    ask(&mut agent, "First").await;
    ask(&mut agent, "Second").await;
    agent.handle.uncompact();
    let moved = |event: &AgentEvent| matches!(event, AgentEvent::Moved { .. });
    agent.until(moved).await;
    // This holds until the next compaction, which the session stores too.
    for (answers, compacted) in [
        (vec![sized(say("three"), 195_000)], false),
        (
            vec![
                fail(ErrorClass::Overflow, "prompt is too long"),
                say("another summary"),
                sized(say("four"), 190_000),
            ],
            true,
        ),
        (vec![say("a third summary"), say("five")], true),
    ] {
        agent.handle.shutdown().await;
        agent = Setup {
            answers,
            model: Some(windowed(200_000)),
            rules: rules(),
            resume: Some((Arc::clone(&agent.folder), agent.session.clone())),
            ..Setup::default()
        }
        .start();
        assert_eq!(ask(&mut agent, "Go on").await, RunOutcome::Done);
        assert_eq!(ends(&agent).len(), usize::from(compacted));
    }
}

#[tokio::test]
async fn without_a_compaction_there_is_nothing_to_undo() {
    let mut agent = start(vec![say("one")], 0);
    ask(&mut agent, "First").await;
    agent.handle.uncompact();
    let notice = agent
        .until(|event| matches!(event, AgentEvent::Notice { .. }))
        .await;
    assert!(
        matches!(&notice, AgentEvent::Notice { text, .. } if text.contains("No compaction to undo")),
        "{notice:?}"
    );
}

#[tokio::test]
async fn old_tool_output_is_pruned_first_and_stays_pruned() {
    let long = "x".repeat(70_000);
    let answers = vec![
        call(&[("c1", "read", json!({"file_path": "a.rs"}))]),
        say("read"),
        sized(say("more"), 26_000),
        say("three"),
        say("four"),
    ];
    let mut agent = Setup {
        answers,
        model: Some(windowed(32_000)),
        rules: rules(),
        tools: vec![("read", true, Act::Succeed(long.clone()))],
        ..Setup::default()
    }
    .start();
    for text in ["First", "Second", "Third", "Fourth"] {
        assert_eq!(ask(&mut agent, text).await, RunOutcome::Done);
    }
    assert_eq!(ends(&agent), []);
    assert_eq!(agent.request(2)[2], format!("c1: {long}"));
    let requests = agent.script.requests();
    let left_out = requests[3].messages[2].text();
    assert!(left_out.starts_with("[result left out"), "{left_out}");
    assert_eq!(requests[3].thinking_from, requests[3].messages.len());
    // From here on the bytes stay the same, also for an agent that opens the session.
    let before = &requests[3].messages;
    assert_eq!(requests[4].messages[..before.len()], before[..]);
    assert_eq!(requests[4].thinking_from, requests[3].thinking_from);
    assert_eq!(reopened(&agent)[..before.len()], before[..]);
    let kept = agent.stored().iter().any(|line| line.contains(&long));
    assert!(kept, "the session lost the result");
}

// No cache makes the whole conversation cheap here, so the question follows only the replaced part.
#[tokio::test]
async fn a_model_without_a_cached_prefix_gets_only_the_part_to_replace() {
    let answers = vec![
        call(&[("c1", "read", json!({"file_path": "a.rs"}))]),
        say("one"),
        say("the summary"),
    ];
    let mut agent = Setup {
        answers,
        model: Some(windowed(200_000)),
        rules: rules(),
        tools: vec![("read", true, Act::Succeed("x".repeat(70_000)))],
        ..Setup::default()
    }
    .start();
    ask(&mut agent, "First").await;
    agent.handle.set_model(Model {
        id: "other".into(),
        ..windowed(200_000)
    });
    agent.handle.compact(None);
    agent
        .until(|event| matches!(event, AgentEvent::AgentSettled { .. }))
        .await;
    let asked = agent.script.requests().pop().unwrap();
    assert_eq!(asked.messages.len(), 4, "{:?}", lines(&asked));
    let result = asked.messages[2].text();
    assert!(result.ends_with("[68000 more characters]"));
    assert_eq!(ends(&agent).len(), 1);
}

/// This holds even with compaction off: the provider would reject the request after the upload.
#[tokio::test]
async fn a_prompt_many_times_the_window_is_not_sent() {
    let mut agent = Setup {
        answers: vec![say("never")],
        model: Some(windowed(1000)),
        rules: LoopRules {
            compaction: CompactionRules {
                enabled: false,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start();
    agent.prompt(&"word ".repeat(20_000));
    let outcome = agent.settled().await;
    let RunOutcome::Failed { message } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(message.contains("can read 1000"), "{message}");
    assert_eq!(agent.script.requests().len(), 0);
}
