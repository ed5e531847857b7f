//! The conversation as iterations. The program itself doesn't ask these questions; the tests answer
//! them from the view that the program has.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiller::agent::session::{Iteration, Session, SessionView};
use tiller::agent::{AgentEvent, CompactionRules, LoopRules};
use tiller::llm::{ErrorClass, LlmError, Message, StreamEvent, ToolCall};

use super::fixture::*;

/// The context that a public agent-loop specification defines, read from a session.
struct Context {
    iterations: Vec<Iteration>,
    created_at: String,
    updated_at: String,
}

impl Context {
    fn of(session: &Path) -> Self {
        let view = SessionView::open(session).unwrap();
        let last = view.tree().leaf().map(|leaf| view.entry(leaf).unwrap());
        let created_at = view.header().timestamp.clone();
        Self {
            iterations: view.iterations().collect(),
            updated_at: last.map_or_else(|| created_at.clone(), |last| last.timestamp),
            created_at,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "iterations": self.iterations,
            "current_iteration": self.current(),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        })
    }

    fn current(&self) -> usize {
        self.iterations.last().map_or(0, |last| last.number)
    }

    fn extract_tool_calls(&self) -> Vec<&ToolCall> {
        let last = self.iterations.last().and_then(|it| it.messages.last());
        match last.map(AsRef::as_ref) {
            Some(Message::Assistant(answer)) => answer.tool_calls().collect(),
            _ => Vec::new(),
        }
    }

    fn to_messages(&self) -> Vec<&Message> {
        let messages = self.iterations.iter().flat_map(|it| &it.messages);
        messages.map(AsRef::as_ref).collect()
    }

    fn exceeded_max_iterations(&self, max: usize) -> bool {
        self.current() >= max
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

async fn two_calls() -> TestAgent {
    let mut agent = agent(
        vec![call(&[("c1", "good", json!({"n": 1}))]), say("done")],
        vec![("good", true, Act::Succeed("fine".into()))],
    );
    agent.prompt("Go");
    agent.settled().await;
    agent
}

#[tokio::test]
async fn a_context_has_its_four_keys_and_an_iteration_its_six() {
    let agent = two_calls().await;
    let context = Context::of(&agent.session).to_json();
    let expected = [
        "iterations",
        "current_iteration",
        "created_at",
        "updated_at",
    ];
    assert_eq!(keys(&context), expected);
    assert_eq!(context["current_iteration"], 2);
    for iteration in context["iterations"].as_array().unwrap() {
        let expected = [
            "number",
            "messages",
            "tool_calls",
            "started_at",
            "completed_at",
            "metadata",
        ];
        assert_eq!(keys(iteration), expected);
        assert!(iteration["metadata"].is_object());
        assert!(iteration["completed_at"].as_str() >= iteration["started_at"].as_str());
    }
    let first = &context["iterations"][0];
    let roles = first["messages"].as_array().unwrap().iter();
    let roles: Vec<_> = roles.map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult"]);
    let call = &first["tool_calls"][0];
    assert_eq!((&call["id"], &call["name"]), (&json!("c1"), &json!("good")));
    assert_eq!(call["arguments"], json!({"n": 1}));
    assert_eq!(context["iterations"][1]["tool_calls"], json!([]));
}

// The calls of the last answer are still running.
#[tokio::test]
async fn an_open_iteration_has_no_end_and_the_calls_of_its_last_message() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "slow", json!({}))]), say("done")],
        vec![("slow", true, Act::Gate(gate.clone()))],
    );
    agent.prompt("Go");
    gate.reached().await;
    let context = Context::of(&agent.session);
    let ids: Vec<_> = context
        .extract_tool_calls()
        .iter()
        .map(|it| &it.id)
        .collect();
    assert_eq!(ids, ["c1"]);
    assert_eq!(
        context.to_json()["iterations"][0]["completed_at"],
        Value::Null
    );
    gate.open();
    agent.settled().await;
    let context = Context::of(&agent.session);
    assert_eq!(context.extract_tool_calls(), Vec::<&ToolCall>::new());
    assert!(context.iterations[1].completed_at.is_some());
}

#[tokio::test]
async fn an_iteration_is_found_by_its_number() {
    let agent = two_calls().await;
    let view = SessionView::open(&agent.session).unwrap();
    for (number, messages) in [(0, None), (1, Some(3)), (2, Some(1)), (3, None), (99, None)] {
        let found = view.iteration(number);
        assert_eq!(found.as_ref().map(|it| it.messages.len()), messages);
        assert_eq!(found.map(|it| it.number), messages.map(|_| number));
    }
}

#[tokio::test]
async fn the_caller_gives_the_iteration_limit() {
    let agent = two_calls().await;
    let context = Context::of(&agent.session);
    for (max, exceeded) in [(1, true), (2, true), (3, false), (10, false)] {
        assert_eq!(context.exceeded_max_iterations(max), exceeded, "{max}");
    }
    let text = fs::read_to_string(&agent.session).unwrap();
    assert!(!text.contains("max_iterations") && !text.contains("maxIterations"));
}

// A restart, a compaction and a retry after partial text change no number.
#[tokio::test]
async fn numbers_continue_after_a_restart() {
    let mut first = Setup {
        answers: vec![say("one"), say("two"), say("summary"), say("three")],
        rules: LoopRules {
            compaction: CompactionRules {
                keep_recent_tokens: 1,
                ..CompactionRules::default()
            },
            ..LoopRules::default()
        },
        ..Setup::default()
    }
    .start();
    first.prompt("1");
    first.settled().await;
    first.prompt("2");
    first.settled().await;
    first.handle.compact(None);
    let settled = |event: &AgentEvent| matches!(event, AgentEvent::AgentSettled { .. });
    first.until(settled).await;
    first.prompt("3");
    first.settled().await;
    first.handle.shutdown().await;

    let mut broken = vec![start()];
    broken.extend(text_block(0, "half"));
    let reset = LlmError::new(ErrorClass::Retryable, "reset");
    broken.push(Step::Say(StreamEvent::Error(reset)));
    let mut second = Setup {
        answers: vec![broken, say("four"), say("five")],
        rules: quick_retries(),
        resume: Some((Arc::clone(&first.folder), first.session.clone())),
        ..Setup::default()
    }
    .start();
    second.prompt("4");
    second.settled().await;
    second.prompt("5");
    second.settled().await;
    let numbers = |agent: &TestAgent| -> Vec<usize> {
        let begun = agent.seen.iter().filter_map(|event| match event.kind {
            AgentEvent::TurnStart { iteration } => Some(iteration),
            _ => None,
        });
        begun.collect()
    };
    assert_eq!(numbers(&first), [1, 2, 3]);
    // The fourth is the attempt that failed after some text.
    assert_eq!(numbers(&second), [4, 6]);
    let context = Context::of(&second.session);
    let said: Vec<_> = context.iterations.iter().map(|it| it.number).collect();
    assert_eq!(said, [1, 2, 3, 4, 5, 6]);
    let prompts: Vec<_> = context
        .iterations
        .iter()
        .map(|it| it.messages[0].text())
        .collect();
    assert_eq!(prompts, ["1", "2", "3", "4", "four", "5"]);
}

// The killed program made the call, so its time is that program's time.
#[tokio::test]
async fn a_program_that_died_in_a_call_leaves_an_open_iteration() {
    let first = two_calls().await;
    let text = fs::read_to_string(&first.session).unwrap();
    first.handle.shutdown().await;
    let call = text.rfind(r#""event":"api_call_start""#).unwrap();
    let end = call + text[call..].find('\n').unwrap() + 1;
    let cut = &text[..end];
    let line = cut.trim_end().lines().last().unwrap();
    let mut old: Value = serde_json::from_str(line).unwrap();
    old["timestamp"] = json!("2020-01-01T00:00:00.000Z");
    fs::write(&first.session, cut.replace(line, &old.to_string())).unwrap();
    let open = &Context::of(&first.session).iterations[1];
    assert_eq!((open.number, open.messages.len()), (2, 0));
    assert_eq!(open.started_at, "2020-01-01T00:00:00.000Z");
    assert_eq!(open.completed_at, None);
    let mut second = Setup {
        answers: vec![say("again")],
        resume: Some((Arc::clone(&first.folder), first.session.clone())),
        ..Setup::default()
    }
    .start();
    second.prompt("More");
    second.settled().await;
    let context = Context::of(&second.session);
    assert_eq!(context.current(), 2);
    assert!(context.iterations[1].started_at.as_str() > "2021");
    assert!(context.iterations[1].completed_at.is_some());
}

fn quick_retries() -> LoopRules {
    let mut rules = LoopRules::default();
    (rules.retry.base_ms, rules.retry.jitter) = (1, false);
    rules
}

/// A line of a session without its id and parent.
fn line() -> impl Strategy<Value = Value> {
    let answer = |stop: &'static str, calls: usize| {
        let calls: Vec<_> = (0..calls)
            .map(|n| json!({"type": "toolCall", "id": format!("c{n}"), "name": "t", "arguments": {}}))
            .collect();
        json!({"type": "message", "message": {
            "role": "assistant", "content": calls, "api": "a", "provider": "p", "model": "m",
            "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
            "stopReason": stop, "timestamp": 1,
        }})
    };
    let result = |id: &'static str| {
        json!({"type": "message", "message": {
            "role": "toolResult", "toolCallId": id, "toolName": "t", "isError": false,
            "content": [{"type": "text", "text": "r"}], "timestamp": 1,
        }})
    };
    let event = |event: &'static str| {
        let data = json!({"event": event});
        json!({"type": "custom", "customType": "tiller.event", "data": data})
    };
    let user = json!({"role": "user", "content": "hi", "timestamp": 1});
    prop_oneof![
        Just(json!({"type": "message", "message": user})),
        Just(
            json!({"type": "custom_message", "customType": "x", "content": "note", "display": true})
        ),
        Just(json!({"type": "branch_summary", "fromId": "e0", "summary": "left"})),
        Just(answer("stop", 0)),
        Just(answer("toolUse", 2)),
        Just(answer("error", 1)),
        Just(result("c0")),
        Just(result("c1")),
        Just(event("api_call_start")),
        Just(event("agent_end")),
    ]
}

fn stored(lines: &[Value]) -> (TempDir, std::path::PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("t_id.jsonl");
    let header = json!({"type": "session", "version": 3, "id": "id", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"});
    let mut text = format!("{header}\n");
    for (at, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        line["id"] = format!("e{at}").into();
        line["parentId"] = at.checked_sub(1).map(|before| format!("e{before}")).into();
        line["timestamp"] = format!("2026-01-01T00:00:{at:02}.000Z").into();
        text += &line.to_string();
        text += "\n";
    }
    fs::write(&path, text).unwrap();
    (root, path)
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_conversation_is_the_sum_of_its_iterations(lines in proptest::collection::vec(line(), 0..30)) {
        let (root, path) = stored(&lines);
        let context = Context::of(&path);
        let (session, _) = Session::open(root.path(), &path).unwrap();
        let history = session.history();
        let all: Vec<&Message> = history.messages.iter().map(AsRef::as_ref).collect();
        proptest::prop_assert_eq!(context.to_messages(), all);
        let view = SessionView::open(&path).unwrap();
        for (at, iteration) in context.iterations.iter().enumerate() {
            proptest::prop_assert_eq!(iteration.number, at + 1);
            let one = view.iteration(at + 1).map(|it| json!(it));
            proptest::prop_assert_eq!(one, Some(json!(iteration)));
            // Only the last can still be open, and none ends before it began.
            let ended = iteration.completed_at.as_ref();
            let last = at + 1 == context.iterations.len();
            proptest::prop_assert!(ended.map_or(last, |end| *end >= iteration.started_at));
        }
        // The messages that lead to a call belong to the iteration that the call begins.
        let answered = context.iterations.iter().filter(|it| it.metadata.contains_key("model"));
        proptest::prop_assert_eq!(session.tree().next_iteration(), answered.count() + 1);
    }
}

#[tokio::test]
async fn the_first_iteration_has_the_system_prompt_and_a_call_under_way_is_an_open_one() {
    let gate = Gate::new();
    let mut waiting = vec![start(), Step::Wait(gate.clone())];
    waiting.extend(say("done").into_iter().skip(1));
    let mut agent = Setup {
        answers: vec![call(&[("c1", "a", json!({}))]), waiting],
        tools: vec![("a", true, Act::Succeed("fine".into()))],
        system_prompt: Some("Be brief.".into()),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    gate.reached().await;
    let view = SessionView::open(&agent.session).unwrap();
    let all: Vec<Iteration> = view.iterations().collect();
    let open: Vec<_> = all.iter().map(|it| it.completed_at.is_none()).collect();
    assert_eq!(open, [false, true]);
    assert!(all[1].messages.is_empty());
    let system = |at: usize| all[at].metadata.get("system_prompt").cloned();
    assert!(system(0).is_some_and(|it| it.as_str().unwrap().contains("Be brief.")));
    assert_eq!(system(1), None);
    assert_eq!(json!(view.iteration(2)), json!(all[1]));
    gate.open();
    agent.settled().await;
    let ended = SessionView::open(&agent.session).unwrap();
    assert_eq!(ended.iterations().count(), 2);
    assert!(ended.iterations().all(|it| it.completed_at.is_some()));
}
