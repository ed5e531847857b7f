//! The list of iterations: what happened, one model call after the other.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::{AgentEvent, Details, ToolStatus};
use tiller::app::tui::overlay::Overlay;
use tiller::llm::{AssistantMessage, Message, Usage};

use super::app_kit::TestTui;

fn turn(tui: &mut TestTui, iteration: u32, input: u64, calls: &[(&str, ToolStatus, Option<u64>)]) {
    tui.agent(AgentEvent::TurnStart { iteration });
    tui.wait(1_250);
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
        });
    }
    tui.agent(AgentEvent::TurnEnd {
        message,
        tool_results: Vec::new(),
    });
}

/// B13
#[test]
fn what_happened_in_each_iteration_can_be_looked_up() {
    let mut tui = TestTui::new(80, 24);
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
    tui.agent(AgentEvent::TurnStart { iteration: 3 });
    tui.wait(3_000);
    tui.write("/iterations");
    tui.key("enter");
    let frame = tui.frame();
    assert!(!frame.contains('\u{1b}'));
    for line in [
        "1      1.2 s  ↑4.1k ↓70",
        "grep  12 ms",
        "edit␛[2J  3 ms failed",
        "bash  6.2 s stopped",
        "write  skipped",
        "2      1.2 s  ↑52k ↓70",
        "3      3.0 s",
    ] {
        assert!(frame.contains(line), "{line}:\n{frame}");
    }
    tui.key("esc");
    assert!(tui.app.overlays.is_empty());
    assert_eq!(tui.text(), "");
}

#[test]
fn the_list_scrolls_and_closes() {
    let mut tui = TestTui::new(80, 24);
    tui.key("alt+i");
    assert!(tui.frame().contains("No model was called yet"));
    tui.key("alt+i");
    assert!(tui.app.overlays.is_empty());
    for iteration in 1..=100 {
        turn(&mut tui, iteration, 10, &[]);
    }
    tui.key("alt+i");
    let top = tui.frame();
    assert!(
        top.contains("more lines") && top.contains("   1  "),
        "{top}"
    );
    tui.key("ctrl+end");
    let end = tui.frame();
    assert!(
        end.contains(" 100  ") && !end.contains("more lines"),
        "{end}"
    );
    tui.key("up");
    assert!(matches!(tui.app.overlays[..], [Overlay::Iterations(_)]));
    let up = tui.frame();
    assert!(
        up.contains(" 1 more line"),
        "one line up from the end:\n{up}"
    );
    for key in ["pagedown", "pagedown", "end", "down", "pagedown"] {
        tui.key(key);
    }
    assert_eq!(tui.frame(), end);
    tui.key("up");
    assert_eq!(tui.frame(), up, "nothing is scrolled past the end");
    tui.key("ctrl+home");
    assert_eq!(tui.frame(), top);
}
