//! Tool calls: groups, order, and every way a call can fail.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::json;
use tiller::agent::{AgentEvent, LoopRules, RunOutcome, Toolbox};
use tiller::llm::{Content, Model, Provider, Request, StopReason, StreamEvent};

use super::fixture::*;

fn is_tool_start(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::ToolStart { .. })
}

#[tokio::test]
async fn a_turn_with_a_tool_in_order() {
    let mut agent = agent(
        vec![call(&[("c1", "touch", json!({ "n": 1 }))]), say("Done.")],
        vec![("touch", false, Act::Succeed("touched".into()))],
    );
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.story(),
        [
            "agent start",
            "turn start 1",
            "message start user: Go",
            "message end user: Go",
            "state Running { phase: Requesting }",
            "message start assistant: ",
            "state Running { phase: Streaming }",
            "message end assistant: [c1]",
            "state Running { phase: Tools([\"touch\"]) }",
            "tool start c1 touch",
            "tool end c1 Ok",
            "message start c1: touched",
            "message end c1: touched",
            "turn end 1 results",
            "turn start 2",
            "state Running { phase: Requesting }",
            "message start assistant: ",
            "state Running { phase: Streaming }",
            "message end assistant: Done.",
            "turn end 0 results",
            "agent end Done 4 messages",
            "state Idle",
            "settled aborted=false",
        ]
    );
    assert_eq!(
        agent.request(1),
        ["user: Go", "assistant: [c1]", "c1: touched"]
    );
    assert_eq!(agent.stored().len(), 4);
    let entry = agent
        .entries()
        .into_iter()
        .find(|entry| entry["message"]["role"] == "toolResult");
    let entry = entry.unwrap();
    assert_eq!(entry["message"]["details"]["kind"], "text");
    assert!(entry["message"]["durationMs"].is_u64());
}

fn three_calls() -> Vec<Step> {
    call(&[
        ("c1", "a", json!({})),
        ("c2", "b", json!({})),
        ("c3", "c", json!({})),
    ])
}

#[tokio::test]
async fn read_only_calls_overlap_and_keep_their_order() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let tools = ["a", "b", "c"];
    let mut agent = agent(
        vec![three_calls(), say("ok")],
        tools
            .into_iter()
            .zip(&gates)
            .map(|(name, gate)| (name, true, Act::Gate(gate.clone())))
            .collect(),
    );
    agent.prompt("Go");
    for gate in &gates {
        gate.reached().await;
    }
    for gate in gates.iter().rev() {
        gate.open();
        agent
            .until(|event| matches!(event, AgentEvent::ToolEnd { .. }))
            .await;
    }
    agent.settled().await;
    let story = agent.story();
    let tools: Vec<_> = story
        .iter()
        .filter(|line| line.starts_with("tool"))
        .collect();
    assert_eq!(
        tools,
        [
            "tool start c1 a",
            "tool start c2 b",
            "tool start c3 c",
            "tool end c3 Ok",
            "tool end c2 Ok",
            "tool end c1 Ok",
        ]
    );
    assert_eq!(
        agent.request(1)[2..],
        ["c1: a done", "c2: b done", "c3: c done"]
    );
}

#[tokio::test]
async fn calls_run_one_at_a_time_if_configured_or_if_they_write() {
    let off = LoopRules {
        parallel_tools: false,
        ..LoopRules::default()
    };
    for (read_only, rules) in [(true, off), (false, LoopRules::default())] {
        let first = Gate::new();
        let mut agent = Setup {
            answers: vec![three_calls(), say("ok")],
            tools: vec![
                ("a", read_only, Act::Gate(first.clone())),
                ("b", read_only, Act::Succeed("b".into())),
                ("c", read_only, Act::Succeed("c".into())),
            ],
            rules,
            ..Setup::default()
        }
        .start();
        agent.prompt("Go");
        first.reached().await;
        first.open();
        agent.settled().await;
        let log = agent.log.lock().unwrap().clone();
        assert_eq!(
            log,
            [
                "start a {}",
                "end a",
                "start b {}",
                "end b",
                "start c {}",
                "end c"
            ]
        );
    }
}

// Consecutive read-only calls form a group. Every other call runs alone.
#[tokio::test]
async fn groups_are_consecutive_read_only_calls() {
    let mut agent = agent(
        vec![
            call(&[
                ("1", "look", json!({})),
                ("2", "look", json!({})),
                ("3", "touch", json!({})),
                ("4", "touch", json!({})),
                ("5", "look", json!({})),
            ]),
            say("ok"),
        ],
        vec![
            ("look", true, Act::Succeed("seen".into())),
            ("touch", false, Act::Succeed("touched".into())),
        ],
    );
    agent.prompt("Go");
    agent.settled().await;
    let story = agent.story();
    let phases: Vec<_> = story.iter().filter(|line| line.contains("Tools")).collect();
    assert_eq!(
        phases,
        [
            "state Running { phase: Tools([\"look\", \"look\"]) }",
            "state Running { phase: Tools([\"touch\"]) }",
            "state Running { phase: Tools([\"look\"]) }",
        ]
    );
}

#[tokio::test]
async fn a_failing_or_panicking_tool_is_an_error_result() {
    for read_only in [true, false] {
        let mut agent = agent(
            vec![
                call(&[
                    ("c1", "a", json!({})),
                    ("c2", "bad", json!({})),
                    ("c3", "worse", json!({})),
                    ("c4", "a", json!({})),
                    ("c5", "worst", json!({})),
                    ("c6", "a", json!({})),
                ]),
                say("ok"),
            ],
            vec![
                ("a", read_only, Act::Succeed("fine".into())),
                ("worst", read_only, Act::PanicEarly("bang".into())),
                ("bad", read_only, Act::Fail("no such thing".into())),
                ("worse", read_only, Act::Panic("boom".into())),
            ],
        );
        agent.prompt("Go");
        assert_eq!(agent.settled().await, RunOutcome::Done);
        assert_eq!(
            agent.request(1)[2..],
            [
                "c1: fine",
                "c2!: no such thing",
                "c3!: Tool execution failed: boom",
                "c4: fine",
                "c5!: Tool execution failed: bang",
                "c6: fine",
            ]
        );
    }
}

#[tokio::test]
async fn a_call_runs_with_the_effects_that_were_judged() {
    let mut agent = agent(
        vec![call(&[("c1", "a", json!({ "n": 7 }))]), say("ok")],
        vec![("a", true, Act::AllowedReads)],
    );
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.request(1)[2], "c1: 7");
}

#[tokio::test]
async fn calls_that_cannot_run_get_an_error_result() {
    let mut answer = vec![start()];
    answer.extend(call_block(0, "c1", "foo", "{}"));
    answer.extend(call_block(1, "c2", "barred", "{}"));
    answer.extend(call_block(2, "c3", "a", r#"{"n": "#));
    answer.extend(call_block(3, "c4", "a", r#"{"n": "many"}"#));
    answer.extend(call_block(4, "c5", "a", r#"{"n": 42, "path": "as it is"}"#));
    answer.extend(call_block(5, "c6", "a", "[1]"));
    answer.push(done(StopReason::ToolUse));
    let log = Arc::default();
    let tools = vec![
        FakeTool::new("a", false, Act::Succeed("fine".into()), &log) as _,
        FakeTool::new("barred", false, Act::Succeed("never".into()), &log) as _,
    ];
    let mut agent = Setup {
        answers: vec![answer, say("ok")],
        toolbox: Some(Toolbox::select(tools, &"-barred".parse().unwrap()).unwrap()),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    let results = agent.request(1)[2..].to_vec();
    assert_eq!(results[0], "c1!: Tool 'foo' not found");
    assert_eq!(results[1], "c2!: Tool 'barred' not available");
    assert!(
        results[2].starts_with("c3!: error: invalid input: "),
        "{}",
        results[2]
    );
    assert!(results[2].contains(r#"{"n": "#), "{}", results[2]);
    assert_eq!(
        results[3],
        "c4!: error: invalid input: n must be an integer, not a string"
    );
    assert_eq!(results[4], "c5: fine");
    assert!(results[5].starts_with("c6!: error: invalid input: "));
    assert_eq!(
        *log.lock().unwrap(),
        ["start a {\"n\":42,\"path\":\"as it is\"}", "end a"]
    );
    let offered: Vec<_> = agent.script.requests()[0]
        .tools
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    assert_eq!(offered, ["a"]);
}

#[tokio::test]
async fn an_answer_cut_at_the_output_limit_runs_no_calls() {
    let mut answer = vec![start()];
    answer.extend(call_block(0, "c1", "a", "{}"));
    answer.extend(call_block(1, "c2", "a", r#"{"n": "#));
    answer.push(done(StopReason::Length));
    let mut agent = agent(
        vec![answer, say("ok")],
        vec![("a", false, Act::Succeed("never".into()))],
    );
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert!(agent.log.lock().unwrap().is_empty());
    let results = agent.request(1)[2..].to_vec();
    assert_eq!(results.len(), 2);
    for (result, id) in results.iter().zip(["c1", "c2"]) {
        assert!(result.starts_with(&format!("{id}!: Not run: ")), "{result}");
        assert!(result.contains("output limit"));
    }
}

#[tokio::test]
async fn calls_with_the_same_id_each_get_a_result() {
    let mut agent = agent(
        vec![
            call(&[("same", "a", json!({})), ("same", "b", json!({}))]),
            call(&[("same", "a", json!({}))]),
            say("ok"),
        ],
        vec![
            ("a", false, Act::Succeed("from a".into())),
            ("b", false, Act::Fail("from b".into())),
        ],
    );
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(
        agent.request(2)[2..],
        [
            "same: from a",
            "same-2!: from b",
            "assistant: [same-3]",
            "same-3: from a"
        ]
    );
}

// The screen gets live details, and each replaces the last.
#[tokio::test(start_paused = true)]
async fn progress_is_shown_while_a_tool_runs() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "sh", json!({}))]), say("ok")],
        vec![("sh", false, Act::Output("line 1".into(), gate.clone()))],
    );
    agent.prompt("Go");
    let update = agent
        .until(|event| matches!(event, AgentEvent::ToolUpdate { .. }))
        .await;
    let AgentEvent::ToolUpdate { details, .. } = update else {
        unreachable!()
    };
    assert!(format!("{details:?}").contains("line 1"));
    gate.open();
    agent.settled().await;
}

// Progress arrives at most every 50 ms, and at least that often while there is any.
#[tokio::test(start_paused = true)]
async fn progress_keeps_its_pace() {
    for (lines, millis, least, most) in [(20, 60, 15, 21), (100, 10, 15, 22)] {
        let mut agent = agent(
            vec![call(&[("c1", "sh", json!({}))]), say("ok")],
            vec![("sh", false, Act::Ticker(lines, millis))],
        );
        agent.prompt("Go");
        agent.settled().await;
        let told = agent.seen.iter();
        let updates = told
            .filter(|event| matches!(event.kind, AgentEvent::ToolUpdate { .. }))
            .count();
        assert!(
            (least..=most).contains(&updates),
            "{lines} lines: {updates}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn durations_are_whole_milliseconds_of_a_monotonic_clock() {
    let gate = Gate::new();
    let mut agent = agent(
        vec![call(&[("c1", "slow", json!({}))]), say("ok")],
        vec![("slow", false, Act::Gate(gate.clone()))],
    );
    agent.prompt("Go");
    agent.until(is_tool_start).await;
    gate.reached().await;
    tokio::time::advance(std::time::Duration::from_millis(500)).await;
    gate.open();
    let end = agent
        .until(|event| matches!(event, AgentEvent::ToolEnd { .. }))
        .await;
    let AgentEvent::ToolEnd { duration_ms, .. } = end else {
        unreachable!()
    };
    assert!(
        (500..700).contains(&duration_ms.unwrap()),
        "{duration_ms:?}"
    );
    agent.settled().await;
}

#[tokio::test]
async fn a_run_can_continue_after_a_failed_model_call() {
    use tiller::llm::{ErrorClass, LlmError, StreamEvent};
    let error = LlmError::new(ErrorClass::Auth, "no key").with_hint("set LAB_KEY");
    let mut broken = vec![start()];
    broken.extend(text_block(0, "half"));
    broken.push(Step::Say(StreamEvent::Error(error)));
    let mut agent = Setup {
        answers: vec![broken, vec![], say("ok")],
        rules: no_retries(),
        ..Setup::default()
    }
    .start();
    agent.handle.prompt(vec![Content::text("Go")]);
    let failed = |message: &str| RunOutcome::Failed {
        message: message.into(),
    };
    assert_eq!(agent.settled().await, failed("no key\nset LAB_KEY"));
    agent.handle.go_on();
    let outcome = agent.settled().await;
    assert!(
        matches!(outcome, RunOutcome::Failed { message } if message.contains("The model's answer was cut off"))
    );
    agent.handle.go_on();
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.stored().last().unwrap(), "assistant: ok");
}

/// Plays its script, but panics when the agent asks for a model's window.
struct Windowless(Script);

impl Provider for Windowless {
    fn loaded_window(&self, _model: &Model) -> BoxFuture<'static, Option<u64>> {
        panic!("a provider's own fault")
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamEvent> {
        self.0.stream(request)
    }
}

#[tokio::test]
async fn a_provider_that_panics_over_a_window_still_answers() {
    let mut agent = Setup {
        provider: Some(Arc::new(Windowless(Script::with(vec![say("ok")])))),
        ..Setup::default()
    }
    .start();
    agent.prompt("Go");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.stored(), ["user: Go", "assistant: ok"]);
}

#[tokio::test]
async fn a_provider_that_panics_ends_the_run_and_nothing_else() {
    let mut answer = vec![start()];
    answer.extend(text_block(0, "half"));
    answer.push(Step::Panic);
    let mut agent = agent(vec![answer, say("ok")], vec![]);
    agent.prompt("Go");
    let outcome = agent.settled().await;
    assert!(
        matches!(&outcome, RunOutcome::Failed { message } if message.contains("own fault")),
        "{outcome:?}"
    );
    // Every start has its end, and the partial answer stays.
    let story = agent.story();
    for (begin, end) in [("turn start", "turn end"), ("message start", "message end")] {
        let count = |word: &str| story.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!(count(begin), count(end), "{story:#?}");
    }
    assert_eq!(agent.stored(), ["user: Go", "assistant: half"]);
    agent.prompt("again");
    assert_eq!(agent.settled().await, RunOutcome::Done);
    assert_eq!(agent.request(1).last().unwrap(), "user: again");
}
