//! The list of iterations: what happened, one model call after the other.

use std::sync::Arc;

use serde_json::json;
use tiller::agent::{AgentEvent, Details, ToolStatus};
use tiller::app::tui::overlay::Overlay;
use tiller::llm::{AssistantMessage, Message, Usage};

use super::app_kit::TestTui;

fn turn(desk: &mut TestTui, iteration: u32, input: u64, calls: &[(&str, ToolStatus, Option<u64>)]) {
    desk.agent(AgentEvent::TurnStart { iteration });
    desk.wait(1_250);
    let message = Arc::new(Message::Assistant(AssistantMessage {
        usage: Usage {
            input,
            output: 70,
            ..Usage::default()
        },
        ..AssistantMessage::default()
    }));
    desk.agent(AgentEvent::MessageEnd {
        message: Arc::clone(&message),
    });
    for (at, (name, status, duration_ms)) in calls.iter().enumerate() {
        // Some servers give every call the same id.
        let details = Arc::new(Details::from_json(json!({"kind": "text"})));
        let call_id = format!("{}", at / 2);
        desk.agent(AgentEvent::ToolStart {
            call_id: call_id.clone(),
            name: (*name).into(),
            args: Arc::new(json!({})),
            details: Arc::clone(&details),
        });
        desk.agent(AgentEvent::ToolEnd {
            call_id,
            name: (*name).into(),
            status: *status,
            content: Vec::new(),
            details,
            duration_ms: *duration_ms,
        });
    }
    desk.agent(AgentEvent::TurnEnd {
        message,
        tool_results: Vec::new(),
    });
}

/// B13
#[test]
fn what_happened_in_each_iteration_can_be_looked_up() {
    let mut desk = TestTui::new(80, 24);
    turn(
        &mut desk,
        1,
        4_100,
        &[
            ("grep", ToolStatus::Ok, Some(12)),
            ("edit\u{1b}[2J", ToolStatus::Error, Some(3)),
            ("bash", ToolStatus::Cancelled, Some(6_240)),
            ("write", ToolStatus::Skipped, None),
        ],
    );
    turn(&mut desk, 2, 52_000, &[]);
    desk.agent(AgentEvent::TurnStart { iteration: 3 });
    desk.wait(3_000);
    desk.write("/iterations");
    desk.key("enter");
    let frame = desk.frame();
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
    desk.key("esc");
    assert!(desk.app.overlays.is_empty());
    assert_eq!(desk.text(), "");
}

#[test]
fn the_list_scrolls_and_closes() {
    let mut desk = TestTui::new(80, 24);
    desk.key("alt+i");
    assert!(desk.frame().contains("No model was called yet"));
    desk.key("alt+i");
    assert!(desk.app.overlays.is_empty());
    for iteration in 1..=100 {
        turn(&mut desk, iteration, 10, &[]);
    }
    desk.key("alt+i");
    let top = desk.frame();
    assert!(
        top.contains("more lines") && top.contains("   1  "),
        "{top}"
    );
    desk.key("ctrl+end");
    let end = desk.frame();
    assert!(
        end.contains(" 100  ") && !end.contains("more lines"),
        "{end}"
    );
    desk.key("up");
    assert!(matches!(desk.app.overlays[..], [Overlay::Iterations(_)]));
    let up = desk.frame();
    assert!(
        up.contains(" 1 more line"),
        "one line up from the end:\n{up}"
    );
    for key in ["pagedown", "pagedown", "end", "down", "pagedown"] {
        desk.key(key);
    }
    assert_eq!(desk.frame(), end);
    desk.key("up");
    assert_eq!(desk.frame(), up, "nothing is scrolled past the end");
    desk.key("ctrl+home");
    assert_eq!(desk.frame(), top);
}
