//! Whole frames at common terminal sizes.

use std::sync::Arc;

use ratatui_core::layout::Size;
use serde_json::Value;
use tiller::agent::tool::{CommandDetails, Details, DiffDetails, MatchesDetails};
use tiller::agent::{AgentEvent, Phase, RunState, ToolStatus};
use tiller::app::tui::app::Start;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::theme::{ColorDepth, Theme};
use tiller::llm::message::Cost;
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Message, StopReason, StreamEvent, Thinking, Usage,
};

use super::app_kit::TestTui;

/// The stop hint must be visible at every supported size.
#[test]
fn the_stop_hint_shows_only_during_a_run() {
    let phases = [
        Phase::Requesting,
        Phase::Streaming,
        Phase::Tools(vec![
            "a_tool_with_quite_a_long_name".into(),
            "another".into(),
        ]),
        Phase::Retrying {
            attempt: 2,
            max_attempts: 5,
            at: 0,
            reason: "the server is overloaded (529)".into(),
        },
        Phase::Compacting,
        Phase::Asking,
    ];
    for (width, height) in [(40, 10), (41, 12), (80, 24), (200, 60), (40, 60), (200, 10)] {
        let mut tui = TestTui::new(width, height);
        for phase in &phases {
            tui.write("a long text that goes on and on and on, over more than one row of it\n\n\n");
            for key in ["shift+enter"; 12] {
                tui.key(key);
            }
            tui.running(phase.clone());
            tui.waiting(&["one", "two", "three", "four"], &["five", "six"]);
            tui.wait(61_000);
            let frame = tui.frame();
            assert!(
                frame.contains("Esc stops"),
                "{width}x{height} {phase:?}\n{frame}"
            );
            assert!(
                frame.contains("runs everything"),
                "{width}x{height} {phase:?}\n{frame}"
            );
            for key in ["f1", "ctrl+r"] {
                tui.key(key);
                let frame = tui.frame();
                assert!(
                    frame.contains("Esc stops"),
                    "{width}x{height} {key}\n{frame}"
                );
                tui.key("esc");
            }
            for (state, word) in [
                (RunState::Stopping { processes: 1 }, "stopping"),
                (RunState::Idle, ""),
            ] {
                tui.state(state.clone());
                let frame = tui.frame();
                assert!(
                    !frame.contains("Esc stops"),
                    "{width}x{height} {state:?}\n{frame}"
                );
                assert!(frame.contains(word), "{width}x{height} {state:?}\n{frame}");
            }
        }
    }
}

#[test]
fn help_shows_no_stop_hint_while_idle() {
    let mut tui = TestTui::new(100, 60);
    tui.key("f1");
    assert!(!tui.frame().contains("Esc stops"));
}

#[test]
fn a_screen_of_any_size_can_be_drawn() {
    for width in (0..13).chain([17, 40, 300]) {
        for height in (0..24).chain([35, 100]) {
            let mut tui = TestTui::starting(width, height, untrusted());
            tui.frame();
            check_areas(&tui, (width, height), false);
            tui.write("日本語 text that is longer than the row");
            tui.running(Phase::Streaming);
            tui.waiting(&["日本"], &["x"]);
            tui.frame();
            check_areas(&tui, (width, height), true);
            for key in ["f1", "pagedown", "esc", "ctrl+r", "esc"] {
                tui.key(key);
                tui.frame();
            }
        }
    }
}

/// Checks that the areas fill the screen and don't overlap. With enough room, every area is there.
fn check_areas(tui: &TestTui, (width, height): (u16, u16), waiting: bool) {
    let areas = tui.app.areas;
    let mut y = 0;
    for part in [
        areas.transcript,
        areas.rule,
        areas.queue,
        areas.activity,
        areas.editor,
        areas.status,
    ] {
        assert_eq!(part.y, y, "{width}x{height}: {areas:?}");
        y += part.height;
    }
    assert_eq!(y, height, "{width}x{height}: {areas:?}");
    assert_eq!(areas.text, areas.text.intersection(areas.editor));
    if height >= 1 && width >= 12 {
        assert!(areas.text.height >= 1, "{width}x{height}: {areas:?}");
    }
    if height >= 10 && width >= 40 {
        assert!(areas.transcript.height >= 1, "{width}x{height}: {areas:?}");
        assert!(!tui.app.is_running() || areas.activity.height == 1);
        assert!(!waiting || areas.queue.height >= 1);
    }
}

fn call(tui: &mut TestTui, id: &str, name: &str, details: Details, ended: Option<u64>) {
    let details = Arc::new(details);
    tui.agent(AgentEvent::ToolStart {
        call_id: id.into(),
        name: name.into(),
        // The screen must work without the arguments.
        args: Arc::new(Value::Null),
        details: details.clone(),
    });
    if let Some(millis) = ended {
        tui.agent(AgentEvent::ToolEnd {
            call_id: id.into(),
            name: name.into(),
            status: ToolStatus::Ok,
            content: Vec::new(),
            details,
            duration_ms: Some(millis),
            rule: None,
        });
    }
}

/// A run in the middle of its work, as the design shows it.
fn at_work(width: u16, height: u16) -> TestTui {
    let mut tui = TestTui::new(width, height);
    tui.write("Fix the login bug in auth.rs; keep the tests green");
    tui.key("enter");
    tui.running(Phase::Streaming);
    let message = Arc::new(Message::Assistant(AssistantMessage::default()));
    tui.agent(AgentEvent::MessageStart { message });
    let said = "I'll look at how tokens are checked **first**.";
    for event in [
        StreamEvent::BlockStart {
            index: 0,
            block: Content::Thinking(Thinking::default()),
        },
        StreamEvent::BlockDelta {
            kind: BlockKind::Thinking,
            index: 0,
            delta: "Where are tokens compared?".into(),
        },
    ] {
        tui.agent(AgentEvent::MessageUpdate { event });
    }
    tui.now += 4000;
    for event in [
        StreamEvent::BlockEnd {
            kind: BlockKind::Thinking,
            index: 0,
            signature: None,
        },
        StreamEvent::BlockStart {
            index: 1,
            block: Content::text(""),
        },
        StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 1,
            delta: said.into(),
        },
        StreamEvent::BlockEnd {
            kind: BlockKind::Text,
            index: 1,
            signature: None,
        },
    ] {
        tui.agent(AgentEvent::MessageUpdate { event });
    }
    let message = AssistantMessage {
        content: vec![
            Content::Thinking(Thinking {
                thinking: "Where are tokens compared?".into(),
                ..Thinking::default()
            }),
            Content::text(said),
        ],
        stop_reason: StopReason::ToolUse,
        usage: Usage {
            input: 41_200,
            output: 6_100,
            cache_read: 38_000,
            cost: Cost {
                total: 0.21,
                ..Cost::default()
            },
            ..Usage::default()
        },
        ..AssistantMessage::default()
    };
    tui.agent(AgentEvent::MessageEnd {
        message: Arc::new(Message::Assistant(message)),
    });
    tui.running(Phase::Tools(vec!["bash".into()]));
    let found = MatchesDetails {
        pattern: "verify_token".into(),
        path: "src".into(),
        lines: vec![
            "src/auth.rs:41: fn verify_token(&self, token: &str) -> bool {".into(),
            "src/auth.rs:88:     if !self.verify_token(t) {".into(),
        ],
        count: 2,
        ..MatchesDetails::default()
    };
    call(&mut tui, "1", "grep", Details::Matches(found), Some(12));
    let diff = DiffDetails {
        path: "src/auth.rs".into(),
        diff: " 40 impl Session {\n-41     token == self.token\n\
               +41     constant_time_eq(token, &self.token)\n 42 }"
            .into(),
        first_changed_line: Some(41),
        added: 1,
        removed: 1,
        old_lines: 90,
        new_lines: 90,
        files: Vec::new(),
        ..DiffDetails::default()
    };
    call(&mut tui, "2", "edit", Details::Diff(diff), Some(8));
    let tests = CommandDetails {
        command: "cargo test auth".into(),
        output: "running 3 tests\ntest auth::rejects_expired ... ok".into(),
        total_lines: 2,
        ..CommandDetails::default()
    };
    call(&mut tui, "3", "bash", Details::Command(tests), None);
    tui.waiting(
        &["use the subtle crate instead of a helper"],
        &["update the changelog\n\nand tag"],
    );
    tui.wait(6200);
    tui.write("a draft");
    tui
}

#[test]
fn a_run_at_work() {
    for (width, height) in [(200, 60), (80, 24), (40, 10)] {
        let frame = at_work(width, height).frame();
        insta::assert_snapshot!(format!("at_work_{width}x{height}"), frame);
    }
}

/// The styles of a whole screen in each theme, with and without a list over it.
#[test]
fn a_run_at_work_in_color() {
    for (name, theme, depth) in [
        ("dark", "dark", ColorDepth::TrueColor),
        ("light", "light", ColorDepth::TrueColor),
        ("ansi", "ansi", ColorDepth::Ansi16),
        ("no_color", "dark", ColorDepth::None),
    ] {
        let mut tui = at_work(60, 24);
        tui.app.theme = Theme::load(theme, depth).expect("built in");
        insta::assert_snapshot!(format!("styles_{name}"), tui.styled_frame());
        for key in ["ctrl+w", "ctrl+w", "ctrl+r"] {
            tui.key(key);
        }
        insta::assert_snapshot!(format!("styles_list_{name}"), tui.styled_frame());
    }
}

#[test]
fn an_empty_screen() {
    let start = || Start {
        notices: vec!["--permission full: commands run without asking".into()],
        ..Start::default()
    };
    for (width, height) in [(80, 24), (40, 10)] {
        let frame = TestTui::starting(width, height, start()).frame();
        insta::assert_snapshot!(format!("empty_{width}x{height}"), frame);
    }
}

/// A project with its own settings, before the user has answered the trust question.
fn untrusted() -> Start {
    Start {
        notices: vec!["Folder not trusted, so tiller ignores: AGENTS.md, a/CLAUDE.md".into()],
        asks_trust: true,
        ..Start::default()
    }
}

#[test]
fn the_trust_notice_stays_above_the_editor_until_answered() {
    for (width, notice, line) in [
        (
            100,
            "AGENTS.md, a/CLAUDE.md",
            "Folder not trusted: instructions ignored · /trust load · /trust no dismiss",
        ),
        (
            40,
            " AGENTS.md, a/CLAUDE.md",
            "Not trusted · /trust · /trust no",
        ),
    ] {
        let mut tui = TestTui::starting(width, 24, untrusted());
        let frame = tui.frame();
        assert!(frame.contains(notice) && frame.contains(line), "{frame}");
        // Typed letters go into the editor.
        for key in ["y", "n", "t"] {
            assert!(
                tui.key(key)
                    .iter()
                    .all(|effect| !matches!(effect, Effect::Trust(_)))
            );
        }
        assert!(tui.frame().contains(line));
        tui.key("ctrl+u");
        tui.write("/trust no");
        assert!(tui.key("enter").contains(&Effect::Trust(false)));
        assert!(!tui.frame().contains(line));
    }
}

#[test]
fn overlays_cover_the_screen() {
    for (name, key) in [("help", "f1"), ("history", "ctrl+r"), ("leave", "ctrl+d")] {
        let mut tui = at_work(80, 24);
        tui.key("ctrl+w");
        tui.key("ctrl+w");
        tui.key(key);
        insta::assert_snapshot!(format!("over_{name}"), tui.frame());
    }
}

#[test]
fn a_screen_that_shrinks_and_grows_back_looks_the_same() {
    let mut tui = at_work(80, 24);
    let before = tui.frame();
    for (width, height) in [(1, 1), (40, 10), (0, 0), (200, 60), (80, 24)] {
        tui.send(Msg::Resize(Size::new(width, height)));
        tui.frame();
    }
    assert_eq!(tui.frame(), before);
}
