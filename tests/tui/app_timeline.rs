//! The list of model calls, one row each.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::session::IterationSummary;
use tiller::agent::{AgentEvent, Details, Phase, RunState, ToolStatus};
use tiller::app::tui::app::SessionInfo;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::llm::{AssistantMessage, Message, StopReason, Usage};

use super::app_kit::TestTui;

fn turn(
    tui: &mut TestTui,
    iteration: usize,
    input: u64,
    calls: &[(&str, ToolStatus, Option<u64>)],
) {
    tui.agent(AgentEvent::TurnStart { iteration });
    tui.wait(1_250);
    tui.agent(AgentEvent::ApiCallEnd {
        stop_reason: StopReason::Stop,
        first_token_ms: Some(340),
        duration_ms: 1_250,
    });
    let message = Arc::new(Message::Assistant(AssistantMessage {
        usage: Usage {
            input,
            output: 70,
            ..Usage::default()
        },
        ..AssistantMessage::default()
    }));
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::clone(&message),
    });
    for (at, (name, status, duration_ms)) in calls.iter().enumerate() {
        // Some servers give every call the same id.
        let details = Arc::new(Details::from_json(json!({"kind": "text"})));
        let call_id = format!("{}", at / 2);
        tui.agent(AgentEvent::ToolStart {
            call_id: call_id.clone(),
            name: (*name).into(),
            args: Arc::new(json!({})),
            details: Arc::clone(&details),
        });
        tui.agent(AgentEvent::ToolEnd {
            call_id,
            name: (*name).into(),
            status: *status,
            content: Vec::new(),
            details,
            duration_ms: *duration_ms,
            rule: None,
        });
    }
    tui.agent(AgentEvent::TurnEnd {
        message,
        tool_results: Vec::new(),
    });
}

#[test]
fn the_list_shows_what_happened_in_each_iteration() {
    let mut tui = TestTui::new(150, 24);
    turn(
        &mut tui,
        1,
        4_100,
        &[
            ("grep", ToolStatus::Ok, Some(12)),
            ("edit\u{1b}[2J", ToolStatus::Error, Some(3)),
            ("bash", ToolStatus::Cancelled, Some(6_240)),
            ("write", ToolStatus::Skipped, None),
        ],
    );
    turn(&mut tui, 2, 52_000, &[]);
    tui.agent(AgentEvent::State(RunState::Running {
        phase: Phase::Requesting,
    }));
    tui.agent(AgentEvent::TurnStart { iteration: 3 });
    tui.wait(3_000);
    tui.write("/iterations");
    tui.key("enter");
    let frame = tui.frame();
    assert!(!frame.contains('\u{1b}'));
    for line in [
        "    1       1.2 s     340 ms    4.1k     70",
        "grep 12 ms · edit␛[2J 3 ms failed · bash 6.2 s stopped ·",
        "    2       1.2 s     340 ms     52k     70                  answer",
        "    3       3.0 s",
    ] {
        assert!(frame.contains(line), "{line}:\n{frame}");
    }
    // New calls appear on top while the list is open.
    turn(&mut tui, 4, 7, &[("ls", ToolStatus::Ok, Some(5))]);
    let frame = tui.frame();
    assert!(frame.find("ls 5 ms") < frame.find("grep 12 ms"), "{frame}");
    tui.key("esc");
    assert!(tui.app.overlays.is_empty());
}

fn done(tui: &mut TestTui, result: EffectResult) {
    tui.send(Msg::Done(result));
}

pub(super) fn stored(numbers: std::ops::RangeInclusive<usize>) -> Arc<[IterationSummary]> {
    let row = |number: usize| IterationSummary {
        number,
        began: 1_000,
        ended: Some(3_000),
        prompt: format!("prompt {number}"),
        ..IterationSummary::default()
    };
    numbers.map(row).collect()
}

/// After a resume, the file has the older iterations and some that also arrived live.
#[test]
fn stored_and_live_iterations_make_one_list() {
    let mut tui = TestTui::new(110, 24);
    tui.app.status.session = Some(SessionInfo {
        file: "/s/x.jsonl".into(),
        ..SessionInfo::default()
    });
    // The screen opened the session at iteration 9,999.
    turn(&mut tui, 9_999, 10, &[]);
    turn(&mut tui, 10_000, 20, &[]);
    tui.write("/iterations");
    let effects = tui.key("enter");
    assert_eq!(effects, [Effect::ReadIterations("/s/x.jsonl".into())]);
    assert!(tui.frame().contains("Reading…"));
    done(&mut tui, EffectResult::Iterations(Ok(stored(1..=10_000))));
    turn(&mut tui, 10_001, 30, &[("ls", ToolStatus::Ok, None)]);
    let frame = tui.frame();
    for number in [10_001, 10_000, 9_999, 9_998] {
        let rows = frame.matches(&format!("│ {number:>5} ")).count();
        assert_eq!(rows, 1, "{number}: {frame}");
    }
    assert!(frame.contains("  ls"), "{frame}");
    tui.key("space");
    assert!(!tui.frame().contains("│ 10001 "), "a page down");
    tui.key("ctrl+end");
    assert!(
        tui.frame().contains("… 9001 earlier calls"),
        "{}",
        tui.frame()
    );
}

/// As in the file, a failed attempt with output is an iteration.
#[test]
fn another_attempt_of_a_turn_has_its_own_number() {
    let mut tui = TestTui::new(110, 24);
    let asked = || AgentEvent::ApiCallStart {
        model: "lab/m".into(),
    };
    let failed = Arc::new(Message::Assistant(AssistantMessage {
        stop_reason: StopReason::Error,
        ..AssistantMessage::default()
    }));
    tui.agent(AgentEvent::TurnStart { iteration: 7 });
    tui.agent(asked());
    tui.agent(AgentEvent::MessageEnd { message: failed });
    tui.agent(asked());
    tui.agent(asked());
    turn(&mut tui, 9, 20, &[]);
    tui.write("/iterations");
    tui.key("enter");
    let frame = tui.frame();
    let numbered = |n: usize| frame.contains(&format!("    {n} "));
    assert!(numbered(7) && numbered(8) && numbered(9), "{frame}");
    assert!(!numbered(10), "{frame}");
}

#[test]
fn the_status_has_a_tab_for_each_part() {
    let mut tui = TestTui::new(80, 24);
    turn(&mut tui, 1, 10, &[("ls", ToolStatus::Ok, None)]);
    assert_eq!(tui.key("alt+i"), []);
    assert!(tui.frame().contains("tool calls"), "{}", tui.frame());
    assert_eq!(tui.key("right"), [Effect::ReadContext]);
    assert!(tui.frame().contains("Counting…"));
    assert_eq!(tui.key("tab"), []);
    assert!(tui.frame().contains("This run isn't stored"));
    tui.key("right");
    assert!(tui.frame().contains("1st token"), "{}", tui.frame());
    tui.key("right");
    tui.key("left");
    assert!(tui.frame().contains("1st token"), "{}", tui.frame());
    tui.key("alt+i");
    assert!(tui.app.overlays.is_empty());
    tui.write("/status nonsense");
    tui.key("enter");
    assert!(tui.frame().contains("No /status nonsense"));
    for (columns, rows) in [(40, 10), (20, 6), (3, 3), (1, 1)] {
        let mut small = TestTui::new(columns, rows);
        turn(&mut small, 1, 10, &[("ls", ToolStatus::Ok, None)]);
        small.key("alt+i");
        for _ in 0..4 {
            small.frame();
            small.key("right");
        }
    }
}

#[test]
fn stats_show_the_time_to_the_first_token() {
    let mut tui = TestTui::new(80, 24);
    turn(&mut tui, 1, 100, &[("read", ToolStatus::Ok, Some(5))]);
    tui.write("/stats");
    tui.key("enter");
    assert!(
        tui.frame().contains("first token   340 ms"),
        "{}",
        tui.frame()
    );
    tui.key("esc");
    turn(&mut tui, 2, 100, &[]);
    tui.write("/stats");
    tui.key("enter");
    let told = "first token   340 ms  median, 340 ms max";
    assert!(tui.frame().contains(told), "{}", tui.frame());
}

#[test]
fn a_long_run_shows_its_time_beside_the_running_calls() {
    let mut tui = TestTui::new(80, 24);
    tui.write("go");
    tui.key("enter");
    tui.wait(58_000);
    tui.running(Phase::Streaming);
    tui.wait(1_000);
    assert!(!tui.frame().contains("total"), "{}", tui.frame());
    tui.wait(4_000);
    assert!(
        tui.frame().contains("● writing 5 s  1 min 03 s total"),
        "{}",
        tui.frame()
    );
}
