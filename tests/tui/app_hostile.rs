//! Text from a model, a tool, a file or a name never reaches the terminal as an escape sequence.
//! The bytes of a frame contain only tiller's own sequences.

use std::sync::Arc;

use proptest::prelude::*;
use ratatui_core::layout::Size;
use tiller::agent::tool::{CommandDetails, Details, DiffDetails, MatchesDetails};
use tiller::agent::{AgentEvent, NoticeLevel, Phase, ToolStatus};
use tiller::app::manners::Images;
use tiller::app::models::ProviderKey;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::popups::SettingOverride;
use tiller::app::tui::popups::SettingRow;
use tiller::app::tui::terminal::screen_buffer::ScreenBuffer;
use tiller::app::tui::text::link::LinkTable;
use tiller::app::tui::theme::Themes;
use tiller::llm::{
    AssistantMessage, BlockKind, Content, Image, Message, StreamEvent, Thinking, UserMessage,
};

use super::app_kit::TestTui;
use super::pictures;

/// Text made of fragments of escape sequences and control characters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}]0;title\u{7}".to_owned()),
        Just("\u{1b}[2J\u{1b}[?1049l".to_owned()),
        Just("\u{1b}]52;c;aGk=\u{1b}\\".to_owned()),
        Just("\u{1b}P+q544e\u{1b}\\".to_owned()),
        Just("\u{9b}31m\u{9d}8;;x\u{9c}".to_owned()),
        Just("\u{1b}".to_owned()),
        Just("\r\n\t\u{8}\u{7}\u{0}\u{7f}".to_owned()),
        Just("\u{202e}\u{200f}\u{2028}".to_owned()),
        Just("```rs\n\u{1b}[31m\n```\n| a\u{1b} |\n|--|\n| \u{9b}m |\n".to_owned()),
        Just("[x](http://\u{1b}]8;;y\u{7})".to_owned()),
        "[a-z日 ]{0,6}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

/// Panics on any control sequence that tiller doesn't send itself.
struct Orders;

impl vte::Perform for Orders {
    fn execute(&mut self, byte: u8) {
        // Scrolling uses line feeds.
        assert!(byte == b'\n', "control character {byte:#x}");
    }

    fn csi_dispatch(&mut self, _: &vte::Params, between: &[u8], _: bool, last: char) {
        let ours = match between {
            b"" => "HmrJ".contains(last),
            b"?" => "hl".contains(last),
            _ => false,
        };
        assert!(ours, "CSI {between:?} {last}");
    }

    fn esc_dispatch(&mut self, between: &[u8], _: bool, byte: u8) {
        assert!(
            between.is_empty() && byte == b'M',
            "ESC {between:?} {byte:#x}"
        );
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        panic!("OSC {params:?}");
    }

    fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, last: char) {
        panic!("DCS {last}");
    }
}

fn check(tui: &mut TestTui, screen: &mut ScreenBuffer) {
    let drawn = tui.paint(screen.begin());
    let outgoing = String::from_utf8(tui.outgoing()).expect("text");
    for command in outgoing.split_terminator("\u{1b}\\") {
        let command = command.strip_prefix("\u{1b}_G").expect("kitty's");
        assert!(command.bytes().all(|byte| byte.is_ascii_graphic()));
    }
    let mut bytes = Vec::new();
    screen.finish(drawn, &LinkTable::default(), &mut bytes);
    vte::Parser::new().advance(&mut Orders, &bytes);
    let text = String::from_utf8(bytes).expect("text");
    let c1 = text.chars().find(|c| ('\u{80}'..='\u{9f}').contains(c));
    assert_eq!(c1, None);
}

fn call(tui: &mut TestTui, id: &str, name: &str, details: Details) {
    let details = Arc::new(details);
    tui.agent(AgentEvent::ToolStart {
        call_id: id.into(),
        name: name.into(),
        args: Arc::new(serde_json::Value::Null),
        details: details.clone(),
    });
    tui.agent(AgentEvent::ToolEnd {
        call_id: id.into(),
        name: name.into(),
        status: ToolStatus::Error,
        content: Vec::new(),
        details,
        duration_ms: Some(3),
        rule: None,
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn frames_contain_only_our_own_sequences(texts in proptest::collection::vec(hostile(), 12)) {
        let mut texts = texts.into_iter().cycle();
        let mut text = || texts.next().unwrap_or_default();
        let mut tui = TestTui::new(90, 40);
        let mut screen = ScreenBuffer::new(Size::new(90, 40));
        tui.app.status.cwd = text().replace('\0', "").into();
        tui.app.status.branch = Some(text());
        tui.app.start.notices = vec![text()];
        check(&mut tui, &mut screen);
        tui.running(Phase::Tools(vec![text()]));
        let message = Arc::new(Message::Assistant(AssistantMessage::default()));
        tui.agent(AgentEvent::MessageStart { message });
        for event in [
            StreamEvent::BlockStart { index: 0, block: Content::Thinking(Thinking::default()) },
            StreamEvent::BlockDelta { kind: BlockKind::Thinking, index: 0, delta: text() },
            StreamEvent::BlockStart { index: 1, block: Content::text("") },
            StreamEvent::BlockDelta { kind: BlockKind::Text, index: 1, delta: text() },
        ] {
            tui.agent(AgentEvent::MessageUpdate { event });
            check(&mut tui, &mut screen);
        }
        call(&mut tui, "1", "bash", Details::Command(CommandDetails {
            command: text(),
            output: text(),
            ..CommandDetails::default()
        }));
        call(&mut tui, "2", "edit", Details::Diff(DiffDetails {
            path: text(),
            diff: format!(" 1 {}\n-2 {}\n+2 {}", text(), text(), text()),
            ..DiffDetails::default()
        }));
        call(&mut tui, &text(), &text(), Details::Matches(MatchesDetails {
            pattern: text(),
            path: text(),
            lines: vec![text(), text()],
            count: 2,
            ..MatchesDetails::default()
        }));
        tui.agent(AgentEvent::Notice { level: NoticeLevel::Error, text: text() });

        // Pictures with random names, types and bytes, in every protocol.
        let images = [Images::Blocks, Images::Kitty];
        tui.app.graphics.cell = Some((10, 20));
        for wanted in images {
            tui.app.graphics.wanted = wanted;
            tui.send(Msg::Resize(Size::new(90, 40)));
            let name = text();
            let mut whole = pictures::image(&pictures::png(20, 20));
            if let Content::Image(image) = &mut whole {
                image.mime_type = text();
            }
            let broken = Content::Image(Image { data: text(), mime_type: text() });
            for content in [
                vec![Content::text(format!("@\"{name}.png\"")), whole.clone()],
                vec![whole, broken, Content::text(text())],
            ] {
                let message = Arc::new(Message::User(UserMessage {
                    content,
                    origin: None,
                    queue_id: None,
                    timestamp: 0,
                }));
                tui.agent(AgentEvent::MessageStart { message });
            }
            check(&mut tui, &mut screen);
            tui.settle();
            check(&mut tui, &mut screen);
        }
        let (one, two) = (text(), text());
        tui.waiting(&[one.as_str()], &[two.as_str()]);
        check(&mut tui, &mut screen);
        tui.key("ctrl+o");
        check(&mut tui, &mut screen);

        // Lists show theme file names, providers and settings.
        let themes = Themes::default().with(&text(), &format!("[ui]\n\"{}\" = 1\n", "x"));
        tui.write("/theme");
        tui.key("enter");
        tui.send(Msg::Done(EffectResult::Themes(Arc::new(themes))));
        tui.key("end");
        check(&mut tui, &mut screen);
        tui.key("esc");
        tui.write("/login");
        tui.key("enter");
        let providers = vec![ProviderKey { name: text(), place: Some(text()) }];
        tui.send(Msg::Done(EffectResult::Providers(providers)));
        check(&mut tui, &mut screen);
        tui.key("enter");
        check(&mut tui, &mut screen);
        tui.key("esc");
        tui.key("esc");
        tui.write("/settings");
        tui.key("enter");
        let rows = vec![SettingRow {
            key: text(),
            value: text().into(),
            is_set: true,
            overridden: Some(SettingOverride {
                key: text(),
                value: text().into(),
                place: text(),
            }),
            about: text(),
        }];
        tui.send(Msg::Done(EffectResult::Settings(Ok(rows))));
        check(&mut tui, &mut screen);
        let saved = Ok((text(), toml::Value::from(text()), text().replace('\0', "").into()));
        tui.send(Msg::Done(EffectResult::SettingSaved(saved)));
        check(&mut tui, &mut screen);
    }
}
