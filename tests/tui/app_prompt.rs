//! Prompts in the transcript.

use std::sync::Arc;

use tiller::agent::AgentEvent;
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::msg::Msg;
use tiller::app::tui::terminal::input::InputEvent;
use tiller::llm::message::{Message, UserMessage};
use tiller::llm::{Content, message::Text};

use super::app_kit::TestTui;

fn numbered(count: usize, name: &str) -> String {
    let lines: Vec<String> = (0..count).map(|n| format!("{name} {n}")).collect();
    lines.join("\n")
}

fn paste(tui: &mut TestTui, text: &str) {
    tui.send(Msg::Input(InputEvent::Paste(text.to_owned())));
}

/// The text that Enter sends.
fn sent(tui: &mut TestTui) -> Text {
    match &tui.key("enter")[..] {
        [Effect::Prompt(content)] => match &content[..] {
            [Content::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn click_on(tui: &mut TestTui, text: &str) {
    let frame = tui.frame();
    let row = frame.lines().position(|line| line.contains(text));
    tui.click(6, row.unwrap() as u16);
}

#[test]
fn a_long_prompt_shows_its_start_and_end_until_opened() {
    let mut tui = TestTui::new(80, 40);
    for name in ["first", "second", "third"] {
        paste(&mut tui, &numbered(8, name));
        tui.key("shift+enter");
    }
    tui.write("what is this?");
    tui.key("enter");
    let frame = tui.frame();
    let folded = " ❯ first 0\n   first 1\n   first 2\n   … 19 more lines · click or Alt+O\n   \
                  third 6\n   third 7\n   what is this?\n";
    assert!(frame.contains(folded), "{frame}");
    tui.key("alt+o");
    assert!(tui.frame().contains("first 3\n"), "{}", tui.frame());
    tui.key("alt+o");
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    // Ctrl+O only affects tools.
    tui.key("ctrl+o");
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    click_on(&mut tui, "… 19 more");
    assert!(tui.frame().contains("first 3\n"), "{}", tui.frame());
}

#[test]
fn long_pastes_show_as_labels_until_the_prompt_is_opened() {
    let (log, line) = (numbered(300, "pasted"), "x".repeat(1200));
    let mut tui = TestTui::new(80, 40);
    tui.write("what is this? ");
    paste(&mut tui, &log);
    tui.write(" and");
    tui.key("shift+enter");
    paste(&mut tui, &line);
    let whole = format!("what is this? {log} and\n{line}");
    let text = sent(&mut tui);
    assert_eq!(text.text, whole);
    let pasted = |it: &std::ops::Range<u32>| &whole[it.start as usize..it.end as usize];
    let pastes: Vec<&str> = text.pastes.iter().map(pasted).collect();
    assert_eq!(pastes, [&*log, &*line]);
    let folded = " ❯ what is this? ⟦300 lines pasted⟧ and\n   ⟦1200 characters pasted⟧\n";
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    // The same for a stored message.
    let mut tui = TestTui::new(80, 40);
    let message = UserMessage {
        content: vec![Content::Text(text)],
        ..UserMessage::default()
    };
    tui.agent(AgentEvent::MessageStart {
        message: Arc::new(Message::User(message)),
    });
    assert!(tui.frame().contains(folded), "{}", tui.frame());
    click_on(&mut tui, "300 lines");
    assert!(
        tui.frame().contains("this? pasted 0\n   pasted 1\n"),
        "{}",
        tui.frame()
    );
}

#[test]
fn impossible_paste_ranges_in_a_session_file_are_ignored() {
    let text = "é one\ntwo";
    let backwards = std::ops::Range { start: 9, end: 4 };
    let pastes = vec![0..1, backwards, 3..6, 4..8, 7..90];
    let message = UserMessage {
        content: vec![Content::Text(Text {
            text: text.to_owned(),
            pastes,
            ..Text::default()
        })],
        ..UserMessage::default()
    };
    let mut tui = TestTui::new(80, 40);
    tui.agent(AgentEvent::MessageStart {
        message: Arc::new(Message::User(message)),
    });
    let frame = tui.frame();
    assert!(
        frame.contains(" ❯ é ⟦3 characters pasted⟧\n   two\n"),
        "{frame}"
    );
}

#[test]
fn a_slash_at_the_start_of_a_paste_is_kept() {
    let code = format!("//go:build linux\n{}", numbered(20, "line"));
    let mut tui = TestTui::new(80, 40);
    paste(&mut tui, &code);
    assert_eq!(sent(&mut tui).text, code);
    let mut tui = TestTui::new(80, 40);
    tui.write("//etc ");
    paste(&mut tui, &code);
    let text = sent(&mut tui);
    assert_eq!(text.text, format!("/etc {code}"));
    let pasted = std::ops::Range {
        start: 5,
        end: 5 + code.len() as u32,
    };
    assert_eq!(text.pastes, vec![pasted]);
}
