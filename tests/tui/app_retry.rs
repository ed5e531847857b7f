//! A failed model call on the screen: the countdown, its keys, the single notice, and Enter after
//! the last retry.

use std::sync::Arc;

use tiller::agent::{AgentEvent, Phase, RunOutcome, RunState};
use tiller::app::tui::effects::effect::Effect;
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Message, StopReason, StreamEvent, UserMessage,
};

use super::app_kit::{START, TestTui};

const ERROR: &str = "lab/m1: the server is overloaded (529): Overloaded";

/// The agent waits before retry `attempt`.
fn wait(tui: &mut TestTui, attempt: u32, delay_ms: u64) {
    tui.agent(AgentEvent::RetryStart {
        attempt,
        max_attempts: 5,
        delay_ms,
        error: ERROR.into(),
    });
    tui.running(Phase::Retrying {
        attempt,
        max_attempts: 5,
        at: tui.now + delay_ms as i64,
        reason: "the server is overloaded (529)".into(),
    });
}

fn end(tui: &mut TestTui, outcome: RunOutcome) {
    tui.agent(AgentEvent::AgentEnd {
        totals: tiller::agent::RunTotals::default(),
        messages: Vec::new().into(),
        outcome,
    });
    tui.state(RunState::Idle);
    tui.agent(AgentEvent::AgentSettled { aborted: false });
}

fn answer(stop_reason: StopReason, error: Option<&str>) -> AgentEvent {
    AgentEvent::MessageEnd {
        message: Arc::new(Message::Assistant(AssistantMessage {
            stop_reason,
            error_message: error.map(str::to_owned),
            ..AssistantMessage::default()
        })),
    }
}

fn failed() -> RunOutcome {
    RunOutcome::Failed {
        message: ERROR.into(),
    }
}

#[test]
fn the_countdown_ticks_once_a_second() {
    let mut tui = TestTui::new(100, 20);
    wait(&mut tui, 2, 3500);
    let mut shown = Vec::new();
    for _ in 0..10 {
        let frame = tui.frame();
        let line = frame
            .lines()
            .find(|line| line.contains("retry 2/5"))
            .unwrap();
        assert!(line.contains("   Esc stops   Enter retries now"), "{line}");
        shown.push(line.split("   Esc").next().unwrap().trim().to_owned());
        let Some(wake) = tui.app.next_wake() else {
            break;
        };
        tui.wait(wake - tui.now);
    }
    let expected = [4, 3, 2, 1, 0].map(|left| format!("● retry 2/5 in {left} s"));
    assert_eq!(shown, expected);
    assert_eq!(tui.now, START + 3500, "no more ticks after the end");
}

#[test]
fn it_fits_the_smallest_screen() {
    let mut tui = TestTui::new(40, 10);
    wait(&mut tui, 5, 16_000);
    let frame = tui.frame();
    assert!(frame.contains("retry 5/5 in 16 s   Esc stops"), "{frame}");
}

#[test]
fn keys_work_during_the_countdown() {
    let mut tui = TestTui::new(80, 20);
    wait(&mut tui, 1, 5000);
    assert_eq!(tui.key("enter"), [Effect::SteerNow]);
    assert_eq!(tui.key("enter"), [], "an accidental repeat of Enter");
    tui.wait(300);
    assert_eq!(tui.key("ctrl+enter"), [Effect::SteerNow]);
    tui.write("be brief");
    let said = vec![Content::text("be brief")];
    assert_eq!(tui.key("enter"), [Effect::Prompt(said)]);
    assert_eq!(tui.key("esc"), [Effect::Abort]);
    assert_eq!(tui.key("ctrl+c"), [Effect::Abort]);
}

#[test]
fn enter_retries_after_a_failure_or_a_stopped_countdown() {
    let idle_hint = "Enter retry";
    for outcome in [failed(), RunOutcome::Aborted] {
        let mut tui = TestTui::new(80, 20);
        wait(&mut tui, 1, 5000);
        end(&mut tui, outcome);
        assert!(tui.frame().contains(idle_hint), "{}", tui.frame());
        assert_eq!(tui.key("enter"), [Effect::GoOn]);
        assert!(!tui.frame().contains(idle_hint));
    }
    // A run stopped while the model was answering offers no retry.
    let mut tui = TestTui::new(80, 20);
    tui.running(Phase::Streaming);
    end(&mut tui, RunOutcome::Aborted);
    assert!(!tui.frame().contains(idle_hint));
    assert_eq!(tui.key("enter"), []);
}

fn count(frame: &str, words: &str) -> usize {
    frame.matches(words).count()
}

#[test]
fn one_notice_counts_all_failures_until_success() {
    let mut tui = TestTui::new(80, 24);
    for attempt in 1..=3 {
        wait(&mut tui, attempt, 1000);
        tui.running(Phase::Requesting);
        let frame = tui.frame();
        assert_eq!(count(&frame, "overloaded (529): Overloaded"), 1, "{frame}");
        assert!(frame.contains(&format!("Retry {attempt} of 5")), "{frame}");
    }
    tui.agent(answer(StopReason::Stop, None));
    tui.agent(AgentEvent::RetryEnd {
        attempt: 3,
        final_error: None,
    });
    end(&mut tui, RunOutcome::Done);
    let frame = tui.frame();
    assert!(
        frame.contains("· lab/m1: the server is overloaded"),
        "{frame}"
    );
    assert!(frame.contains("Retry 3 succeeded"), "{frame}");
    assert_eq!(count(&frame, "lab/m1"), 1, "{frame}");
}

#[test]
fn the_final_failure_replaces_the_notice() {
    for last in [
        "Retry cancelled",
        "lab/m1: the server is overloaded (529): Overloaded (asked 6 times)\nSend it again",
    ] {
        let mut tui = TestTui::new(90, 24);
        wait(&mut tui, 5, 1000);
        tui.agent(AgentEvent::RetryEnd {
            attempt: 5,
            final_error: Some(last.into()),
        });
        tui.agent(answer(StopReason::Error, Some(last)));
        end(&mut tui, failed());
        let frame = tui.frame();
        let expected = if last.starts_with("Retry") {
            "Stopped during retry 5"
        } else {
            "asked 6 times"
        };
        assert!(frame.contains(expected), "{frame}");
        assert_eq!(count(&frame, "lab/m1"), 1, "{frame}");
    }
}

#[test]
fn the_notice_is_below_a_partial_answer() {
    let mut tui = TestTui::new(80, 24);
    for attempt in 1..=2 {
        tui.agent(AgentEvent::MessageStart {
            message: Arc::new(Message::Assistant(AssistantMessage::default())),
        });
        for event in [
            StreamEvent::BlockStart {
                index: 0,
                block: Content::text(""),
            },
            StreamEvent::BlockDelta {
                kind: BlockKind::Text,
                index: 0,
                delta: format!("half {attempt}"),
            },
        ] {
            tui.agent(AgentEvent::MessageUpdate { event });
        }
        tui.agent(AgentEvent::MessageEnd {
            message: Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(format!("half {attempt}"))],
                stop_reason: StopReason::Error,
                error_message: Some(format!("{ERROR}\nRetried ({attempt} of 5)")),
                ..AssistantMessage::default()
            })),
        });
        wait(&mut tui, attempt, 1000);
    }
    let frame = tui.frame();
    let place = |words: &str| {
        frame
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {frame}"))
    };
    let order = ["half 1", "Retry 1 of 5", "half 2", "Retry 2 of 5"].map(place);
    assert!(order.is_sorted(), "{frame}");
    assert_eq!(count(&frame, "lab/m1"), 2, "{frame}");
}

#[test]
fn a_guard_message_is_a_notice_and_not_a_prompt() {
    let mut tui = TestTui::new(80, 20);
    let message = Arc::new(Message::User(UserMessage {
        content: vec![Content::text("Consider a different approach.")],
        origin: Some("loop_guard".into()),
        queue_id: None,
        timestamp: 0,
    }));
    tui.agent(AgentEvent::MessageStart {
        message: Arc::clone(&message),
    });
    tui.agent(AgentEvent::MessageEnd { message });
    let frame = tui.frame();
    assert!(frame.contains("! The model is repeating itself"), "{frame}");
    assert!(frame.contains("tiller told it: Consider a different approach."));
    assert!(!frame.contains('❯'), "{frame}");
}
