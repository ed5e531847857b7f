//! Random events in random order at random sizes: nothing panics, and no typed word is lost.

use std::sync::Arc;

use proptest::prelude::*;
use ratatui_core::layout::Size;
use tiller::agent::tool::{CommandDetails, Details};
use tiller::agent::{AgentEvent, NoticeLevel, Phase, QueueKind, RunOutcome, RunState, ToolStatus};
use tiller::app::tui::composer::Narrowing;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::{
    InputEvent, KeyCode, KeyModifiers, KeyPress, MouseButton, MouseEvent, MouseEventKind,
    TerminalColor, TerminalReport,
};
use tiller::llm::message::content_text;
use tiller::llm::{AssistantMessage, BlockKind, Content, Message, StreamEvent};

use super::app_kit::{TestTui, queued};

#[derive(Clone, Debug)]
enum Event {
    Key(KeyPress),
    Word,
    Paste(String),
    Mouse(MouseEvent),
    Resize(u16, u16),
    Run(RunState),
    Stream(String),
    Command(String),
    Returned(Vec<String>),
    Waiting(Vec<String>, Vec<String>),
    Notice(String),
    End(bool),
    Report(TerminalReport),
    Edited(Option<String>),
    Wait(i64),
    Frame,
}

fn happening() -> impl Strategy<Value = Event> {
    let keys = prop_oneof![
        Just("enter"),
        Just("alt+enter"),
        Just("ctrl+enter"),
        Just("esc"),
        Just("ctrl+c"),
        Just("ctrl+d"),
        Just("alt+up"),
        Just("ctrl+o"),
        Just("ctrl+t"),
        Just("alt+o"),
        Just("pageup"),
        Just("pagedown"),
        Just("ctrl+home"),
        Just("ctrl+end"),
        Just("ctrl+up"),
        Just("ctrl+down"),
        Just("f1"),
        Just("ctrl+r"),
        Just("up"),
        Just("down"),
        Just("left"),
        Just("backspace"),
        Just("ctrl+w"),
        Just("ctrl+_"),
        Just("alt+_"),
        Just("ctrl+y"),
        Just("ctrl+j"),
        Just("ctrl+g"),
        Just("q"),
        Just("y"),
        Just("日"),
        Just("/"),
    ];
    let text = prop_oneof![
        "[a-z \n]{0,60}",
        Just("# head\n```rs\nfn x() {}\n```\n| a | b |\n|--|--|\n| 日 | 2 |\n".to_owned()),
        Just("\u{1b}[31mred\u{1b}]0;x\u{7}\r\n\t🙂👨\u{200d}👩\u{200d}👧 \u{202e}x".to_owned()),
        Just("x".repeat(3000)),
    ];
    let state = prop_oneof![
        Just(RunState::Idle),
        Just(RunState::Running {
            phase: Phase::Requesting
        }),
        Just(RunState::Running {
            phase: Phase::Streaming
        }),
        Just(RunState::Running {
            phase: Phase::Tools(vec!["bash".into(), "read".into()])
        }),
        Just(RunState::Running {
            phase: Phase::Retrying {
                attempt: 2,
                max_attempts: 5,
                at: i64::MAX,
                reason: "busy".into()
            }
        }),
        (0_usize..3).prop_map(|processes| RunState::Stopping { processes }),
    ];
    let mouse = (0_u16..130, 0_u16..50, 0_u8..6).prop_map(|(col, row, kind)| MouseEvent {
        kind: match kind {
            0 => MouseEventKind::ScrollUp,
            1 => MouseEventKind::ScrollDown,
            2 | 3 => MouseEventKind::Down(MouseButton::Left),
            4 => MouseEventKind::Up(MouseButton::Left),
            _ => MouseEventKind::Drag(MouseButton::Right),
        },
        column: col,
        row,
        modifiers: KeyModifiers::NONE,
    });
    let texts = || proptest::collection::vec("[a-z\n]{1,12}", 0..4);
    prop_oneof![
        8 => keys.prop_map(|key| Event::Key(key.parse().expect(key))),
        4 => Just(Event::Word),
        1 => text.clone().prop_map(Event::Paste),
        2 => mouse.prop_map(Event::Mouse),
        2 => (0_u16..120, 0_u16..45).prop_map(|(w, h)| Event::Resize(w, h)),
        3 => state.prop_map(Event::Run),
        4 => text.clone().prop_map(Event::Stream),
        2 => text.clone().prop_map(Event::Command),
        1 => texts().prop_map(Event::Returned),
        1 => (texts(), texts()).prop_map(|(one, two)| Event::Waiting(one, two)),
        1 => text.clone().prop_map(Event::Notice),
        1 => any::<bool>().prop_map(Event::End),
        1 => (any::<u8>(), any::<u8>(), any::<u8>())
            .prop_map(|(r, g, b)| Event::Report(TerminalReport::Color(TerminalColor::Ground, (r, g, b)))),
        1 => proptest::option::of("[a-z]{0,8}\n?").prop_map(Event::Edited),
        2 => (0_i64..5000).prop_map(Event::Wait),
        6 => Just(Event::Frame),
    ]
}

fn happen(tui: &mut TestTui, what: Event, words: &mut u32) -> Vec<Effect> {
    match what {
        Event::Key(key) => tui.send(Msg::Input(InputEvent::Key(key))),
        Event::Word => {
            *words += 1;
            for c in format!("w{words}").chars() {
                tui.send(Msg::Input(InputEvent::Key(KeyPress::plain(KeyCode::Char(
                    c,
                )))));
            }
            Vec::new()
        }
        Event::Paste(text) => tui.send(Msg::Input(InputEvent::Paste(text))),
        Event::Mouse(event) => tui.send(Msg::Input(InputEvent::Mouse(event))),
        Event::Resize(width, height) => tui.send(Msg::Resize(Size::new(width, height))),
        Event::Run(state) => tui.agent(AgentEvent::State(state)),
        Event::Stream(delta) => {
            let message = Arc::new(Message::Assistant(AssistantMessage::default()));
            tui.agent(AgentEvent::MessageStart { message });
            for event in [
                StreamEvent::BlockStart {
                    index: 0,
                    block: Content::text(""),
                },
                StreamEvent::BlockDelta {
                    kind: BlockKind::Text,
                    index: 0,
                    delta,
                },
            ] {
                tui.agent(AgentEvent::MessageUpdate { event });
            }
            Vec::new()
        }
        Event::Command(output) => {
            let details = Arc::new(Details::Command(CommandDetails {
                command: "make".into(),
                output,
                ..CommandDetails::default()
            }));
            tui.agent(AgentEvent::ToolStart {
                call_id: "c".into(),
                name: "bash".into(),
                args: Arc::new(serde_json::Value::Null),
                details: details.clone(),
            });
            tui.agent(AgentEvent::ToolEnd {
                call_id: "c".into(),
                name: "bash".into(),
                status: ToolStatus::Cancelled,
                content: Vec::new(),
                details,
                duration_ms: Some(3),
                rule: None,
            })
        }
        Event::Returned(texts) => {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let messages = queued(QueueKind::Steering, &texts);
            tui.agent(AgentEvent::QueueReturned { messages, to: 0 })
        }
        Event::Waiting(steering, follow_up) => {
            let steering: Vec<&str> = steering.iter().map(String::as_str).collect();
            let follow_up: Vec<&str> = follow_up.iter().map(String::as_str).collect();
            tui.waiting(&steering, &follow_up);
            Vec::new()
        }
        Event::Notice(text) => tui.agent(AgentEvent::Notice {
            level: NoticeLevel::Warning,
            text,
        }),
        Event::End(limit) => {
            let outcome = if limit {
                RunOutcome::LimitReached { limit: 3 }
            } else {
                RunOutcome::Failed {
                    message: "no\nway".into(),
                }
            };
            tui.agent(AgentEvent::AgentEnd {
                totals: tiller::agent::RunTotals::default(),
                messages: Vec::new().into(),
                outcome,
            })
        }
        Event::Report(report) => tui.send(Msg::Input(InputEvent::Report(report))),
        Event::Edited(text) => {
            let outcome = text.ok_or_else(|| "the editor failed".to_owned());
            tui.send(Msg::Done(EffectResult::Edited(tui.text(), outcome)))
        }
        Event::Wait(millis) => {
            tui.wait(millis);
            Vec::new()
        }
        Event::Frame => {
            tui.frame();
            Vec::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Nothing panics, and no escape sequence or control character reaches the screen.
    #[test]
    fn random_events_do_not_break_the_screen(
        happenings in proptest::collection::vec(happening(), 1..60)
    ) {
        let mut tui = TestTui::new(80, 24);
        let mut words = 0;
        for what in happenings {
            happen(&mut tui, what, &mut words);
            let frame = tui.frame();
            prop_assert!(
                !frame.chars().any(|c| c.is_control() && c != '\n'),
                "control characters on the screen: {frame:?}"
            );
        }
    }

    /// Every typed word stays in the editor, is in the history, or was sent, unless the user
    /// deleted it. Enter, Esc, Ctrl+C, and runs that start, end or stop never lose a word.
    #[test]
    fn no_typed_word_is_lost(
        keys in proptest::collection::vec(
            prop_oneof![
                6 => Just(None),
                1 => Just(Some("enter")),
                1 => Just(Some("alt+enter")),
                1 => Just(Some("ctrl+enter")),
                1 => Just(Some("esc")),
                1 => Just(Some("ctrl+c")),
                1 => Just(Some("ctrl+j")),
                1 => Just(Some("space")),
                1 => Just(Some("f1")),
                1 => Just(Some("RUN")),
                1 => Just(Some("IDLE")),
                1 => Just(Some("BACK")),
            ],
            1..60,
        )
    ) {
        let mut tui = TestTui::new(60, 16);
        let mut typed = Vec::new();
        let mut kept = String::new();
        for (at, key) in keys.into_iter().enumerate() {
            tui.now += 300;
            let effects = match key {
                None => {
                    // While an overlay covers the editor, keys don't type.
                    if !tui.app.overlays.is_empty() {
                        continue;
                    }
                    let word = format!("<{at}>");
                    tui.write(&word);
                    typed.push(word);
                    Vec::new()
                }
                Some("RUN") => {
                    tui.running(Phase::Streaming);
                    Vec::new()
                }
                Some("IDLE") => {
                    tui.state(RunState::Idle);
                    Vec::new()
                }
                Some("BACK") => {
                    let messages = queued(QueueKind::Steering, &["back"]);
                    tui.agent(AgentEvent::QueueReturned { messages, to: 0 })
                }
                Some(key) => tui.key(key),
            };
            for effect in effects {
                match effect {
                    Effect::Prompt(content) | Effect::Queue(_, content) => {
                        kept.push_str(&content_text(&content));
                    }
                    _ => {}
                }
            }
        }
        kept.push_str(&tui.text());
        let history = tui.app.composer.history();
        kept.extend(history.search("", &mut Narrowing::default()).into_iter().filter_map(|age| history.get(age)));
        for word in typed {
            prop_assert!(kept.contains(&word), "{word} is lost");
        }
    }
}
