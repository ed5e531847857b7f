//! A failed model call on the screen: the countdown, its keys, the one notice, and what Enter does
//! when nothing is left to try.

use std::sync::Arc;

use tiller::agent::{AgentEvent, Phase, RunOutcome, RunState};
use tiller::app::tui::effect::Effect;
use tiller::llm::{AssistantMessage, Content, Message, StopReason, StreamEvent, UserMessage};

use super::app_kit::{START, TestTui};

const ERROR: &str = "lab/m1: the server is overloaded (529): Overloaded";

/// The agent waits before retry `attempt`.
fn wait(desk: &mut TestTui, attempt: u32, delay_ms: u64) {
    desk.agent(AgentEvent::RetryStart {
        attempt,
        max_attempts: 5,
        delay_ms,
        error: ERROR.into(),
    });
    desk.running(Phase::Retrying {
        attempt,
        max_attempts: 5,
        at: desk.now + delay_ms as i64,
        reason: "the server is overloaded (529)".into(),
    });
}

fn end(desk: &mut TestTui, outcome: RunOutcome) {
    desk.agent(AgentEvent::AgentEnd {
        messages: Vec::new(),
        outcome,
    });
    desk.state(RunState::Idle);
    desk.agent(AgentEvent::AgentSettled { aborted: false });
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

// G6
#[test]
fn the_countdown_shows_what_is_left_and_moves_once_a_second() {
    let mut desk = TestTui::new(100, 20);
    wait(&mut desk, 2, 3500);
    let mut shown = Vec::new();
    for _ in 0..10 {
        let frame = desk.frame();
        let line = frame
            .lines()
            .find(|line| line.contains("retry 2/5"))
            .unwrap();
        assert!(
            line.contains("· the server is overloaded (529) · Esc stops · Enter retries now"),
            "{line}"
        );
        shown.push(line.split('·').next().unwrap().trim().to_owned());
        let Some(wake) = desk.app.next_wake() else {
            break;
        };
        desk.wait(wake - desk.now);
    }
    let expected = [4, 3, 2, 1, 0].map(|left| format!("● retry 2/5 in {left} s"));
    assert_eq!(shown, expected);
    assert_eq!(desk.now, START + 3500, "nothing moves when it is over");
}

#[test]
fn it_fits_the_smallest_screen() {
    let mut desk = TestTui::new(40, 10);
    wait(&mut desk, 5, 16_000);
    let frame = desk.frame();
    assert!(frame.contains("retry 5/5 in 16 s · Esc stops"), "{frame}");
}

// G7
#[test]
fn keys_in_the_countdown() {
    let mut desk = TestTui::new(80, 20);
    wait(&mut desk, 1, 5000);
    assert_eq!(desk.key("enter"), [Effect::SteerNow]);
    assert_eq!(desk.key("enter"), [], "a slip");
    desk.wait(300);
    assert_eq!(desk.key("ctrl+enter"), [Effect::SteerNow]);
    desk.write("be brief");
    let said = vec![Content::text("be brief")];
    assert_eq!(desk.key("enter"), [Effect::Prompt(said)]);
    assert_eq!(desk.key("esc"), [Effect::Abort]);
    assert_eq!(desk.key("ctrl+c"), [Effect::Abort]);
}

#[test]
fn enter_tries_again_what_failed_or_was_stopped_in_its_wait() {
    let idle_hint = "Enter on the empty editor tries again";
    for outcome in [failed(), RunOutcome::Aborted] {
        let mut desk = TestTui::new(80, 20);
        wait(&mut desk, 1, 5000);
        end(&mut desk, outcome);
        assert!(desk.frame().contains(idle_hint), "{}", desk.frame());
        assert_eq!(desk.key("enter"), [Effect::GoOn]);
        assert!(!desk.frame().contains(idle_hint));
    }
    // What was stopped while the model spoke is not said again.
    let mut desk = TestTui::new(80, 20);
    desk.running(Phase::Streaming);
    end(&mut desk, RunOutcome::Aborted);
    assert!(!desk.frame().contains(idle_hint));
    assert_eq!(desk.key("enter"), []);
}

fn count(frame: &str, words: &str) -> usize {
    frame.matches(words).count()
}

#[test]
fn one_notice_tells_of_all_failures_and_settles() {
    let mut desk = TestTui::new(80, 24);
    for attempt in 1..=3 {
        wait(&mut desk, attempt, 1000);
        desk.running(Phase::Requesting);
        let frame = desk.frame();
        assert_eq!(count(&frame, "overloaded (529): Overloaded"), 1, "{frame}");
        assert!(frame.contains(&format!("Retry {attempt} of 5")), "{frame}");
    }
    desk.agent(answer(StopReason::Stop, None));
    desk.agent(AgentEvent::RetryEnd {
        attempt: 3,
        final_error: None,
    });
    end(&mut desk, RunOutcome::Done);
    let frame = desk.frame();
    assert!(
        frame.contains("· lab/m1: the server is overloaded"),
        "{frame}"
    );
    assert!(frame.contains("Retry 3 succeeded"), "{frame}");
    assert_eq!(count(&frame, "lab/m1"), 1, "{frame}");
}

#[test]
fn the_last_failure_takes_the_place_of_the_notice() {
    for last in [
        "Retry cancelled",
        "lab/m1: the server is overloaded (529): Overloaded (asked 6 times)\nSend it again",
    ] {
        let mut desk = TestTui::new(90, 24);
        wait(&mut desk, 5, 1000);
        desk.agent(AgentEvent::RetryEnd {
            attempt: 5,
            final_error: Some(last.into()),
        });
        desk.agent(answer(StopReason::Error, Some(last)));
        end(&mut desk, failed());
        let frame = desk.frame();
        let expected = if last.starts_with("Retry") {
            "Stopped at retry 5"
        } else {
            "asked 6 times"
        };
        assert!(frame.contains(expected), "{frame}");
        assert_eq!(count(&frame, "lab/m1"), 1, "{frame}");
    }
}

#[test]
fn half_an_answer_has_its_notice_below_it() {
    let mut desk = TestTui::new(80, 24);
    for attempt in 1..=2 {
        desk.agent(AgentEvent::MessageStart {
            message: Arc::new(Message::Assistant(AssistantMessage::default())),
        });
        for event in [
            StreamEvent::TextStart { index: 0 },
            StreamEvent::TextDelta {
                index: 0,
                delta: format!("half {attempt}"),
            },
        ] {
            desk.agent(AgentEvent::MessageUpdate { event });
        }
        desk.agent(AgentEvent::MessageEnd {
            message: Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text(format!("half {attempt}"))],
                stop_reason: StopReason::Error,
                error_message: Some(format!("{ERROR}\nAsked again (retry {attempt} of 5)")),
                ..AssistantMessage::default()
            })),
        });
        wait(&mut desk, attempt, 1000);
    }
    let frame = desk.frame();
    let place = |words: &str| {
        frame
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {frame}"))
    };
    let order = ["half 1", "Retry 1 of 5", "half 2", "Retry 2 of 5"].map(place);
    assert!(order.is_sorted(), "{frame}");
    assert_eq!(count(&frame, "lab/m1"), 2, "{frame}");
}

// M2
#[test]
fn what_the_guard_says_is_a_notice_and_no_prompt() {
    let mut desk = TestTui::new(80, 20);
    let message = Arc::new(Message::User(UserMessage {
        content: vec![Content::text("Consider a different approach.")],
        origin: Some("loop_guard".into()),
        timestamp: 0,
    }));
    desk.agent(AgentEvent::MessageStart {
        message: Arc::clone(&message),
    });
    desk.agent(AgentEvent::MessageEnd { message });
    let frame = desk.frame();
    assert!(frame.contains("! The model goes in circles"), "{frame}");
    assert!(frame.contains("It is told: Consider a different approach."));
    assert!(!frame.contains('❯'), "{frame}");
}
