//! Searching the conversation.

use std::sync::Arc;

use tiller::agent::tool::CommandDetails;
use tiller::agent::{AgentEvent, Details, ToolStatus};
use tiller::app::tui::effect::Effect;
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::transcript::Transcript;
use tiller::llm::{AssistantMessage, Content, Message, StreamEvent};

use super::app_kit::TestTui;
use super::transcript_support::{Stage, branch};

/// A conversation with a needle in a prompt, in folded output, in a title and in an answer.
fn conversation() -> TestTui {
    let mut stage = Stage::new(80, 24);
    stage.user("Where is the needle?");
    let output: Vec<String> = (0..100).map(|line| format!("line {line} of hay")).collect();
    let mut output = output.join("\n");
    output.insert_str(0, "a NEEDLE on\nfirst\n");
    let details = Details::Command(CommandDetails {
        command: "find . -name needle".into(),
        output,
        total_lines: 102,
        exit_code: Some(0),
        ..CommandDetails::default()
    });
    stage.tool_start("a", "bash", details.clone());
    stage.tool_end("a", "bash", ToolStatus::Ok, "", details, None);
    stage.say("It is **the\nneedle** in `hay`.\n\nNothing more to say.", 9);
    for _ in 0..30 {
        stage.say("Some other words.", 9);
    }
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = stage.transcript;
    tui
}

#[test]
fn matches_are_gone_through_from_the_end_and_folds_open_for_them() {
    let mut tui = conversation();
    tui.frame();
    tui.key("ctrl+f");
    tui.write("needle");
    let frame = tui.frame();
    assert!(frame.contains("It is the needle in hay."), "{frame}");
    assert!(frame.contains("4 of 4"), "{frame}");
    tui.key("enter");
    let frame = tui.frame();
    assert!(
        frame.contains("a NEEDLE on") && frame.contains("3 of 4"),
        "{frame}"
    );
    tui.key("enter");
    let frame = tui.frame();
    assert!(
        frame.contains("find . -name needle") && frame.contains("2 of 4"),
        "{frame}"
    );
    assert!(!frame.contains("line 50"), "it is folded again:\n{frame}");
    tui.key("up");
    assert!(tui.frame().contains("1 of 4"));
    tui.key("up");
    assert!(tui.frame().contains("4 of 4"), "it goes around");
    tui.key("down");
    assert!(tui.frame().contains("1 of 4"));
    let top = tui.frame();
    tui.key("esc");
    let closed = tui.frame();
    assert_eq!(closed.lines().next(), top.lines().next(), "it stays there");
    assert!(!closed.contains("Find"));
}

#[test]
fn capitals_count_when_there_are_some_and_white_space_is_any() {
    for (query, count) in [
        ("NEEDLE", "1 of 1"),
        ("is **the needle", "1 of 1"),
        ("first line 0", "1 of 1"),
        ("hay", "101"),
        ("not there", "nothing found"),
    ] {
        let mut tui = conversation();
        tui.frame();
        tui.write(&format!("/find {query}"));
        tui.key("enter");
        let frame = tui.frame();
        assert!(frame.contains(count), "{query}:\n{frame}");
        assert!(frame.contains(&format!("Find {query}")), "{frame}");
    }
}

#[test]
fn what_is_found_is_marked() {
    let mut tui = conversation();
    tui.frame();
    let plain = tui.styled_frame();
    tui.key("ctrl+f");
    tui.write("other words");
    let marked = tui.styled_frame();
    assert!(marked.contains("30 of 30"), "{marked}");
    tui.key("esc");
    assert_eq!(
        tui.styled_frame(),
        plain,
        "nothing stays marked, nothing moved"
    );
}

/// Draws, and reads the pages that are needed for it.
fn read_pages(tui: &mut TestTui) {
    for _ in 0..4 {
        tui.frame();
        for effect in std::mem::take(&mut tui.settled) {
            if let Effect::ReadPage(request) = effect {
                tui.send(Msg::Done(EffectResult::Page(request.load())));
            }
        }
    }
}

#[test]
fn pages_that_are_not_in_memory_are_searched_too() {
    let messages = (0..400).map(|at| {
        let answer = AssistantMessage {
            content: vec![Content::text(format!("answer {at} of many"))],
            ..AssistantMessage::default()
        };
        Arc::new(Message::Assistant(answer))
    });
    let branch = branch(&messages.collect::<Vec<_>>());
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = Transcript::of_branch(branch);
    read_pages(&mut tui);
    tui.key("ctrl+f");
    let mut effects = Vec::new();
    for c in "answer 3 of".chars() {
        effects = tui.key(&c.to_string().replace(' ', "space"));
    }
    let pages = effects.into_iter().find_map(|effect| match effect {
        Effect::SearchPages(pages) => Some(pages),
        _ => None,
    });
    tui.send(Msg::Done(EffectResult::PagesSearched(pages.unwrap().run())));
    // The page of the match is read as soon as it is looked at.
    read_pages(&mut tui);
    let frame = tui.frame();
    assert!(
        frame.contains("answer 3 of many") && frame.contains("1 of 1"),
        "{frame}"
    );
}

#[test]
fn what_has_come_since_is_found_when_one_goes_on() {
    let mut stage = Stage::new(80, 24);
    stage.user("Go");
    stage.say("one needle", 9);
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = stage.transcript.clone();
    tui.frame();
    tui.key("ctrl+f");
    tui.write("needle");
    let frame = tui.frame();
    assert!(frame.contains("1 of 1"), "{frame}");
    for event in [
        AgentEvent::MessageStart {
            message: Arc::new(Message::Assistant(AssistantMessage::default())),
        },
        AgentEvent::MessageUpdate {
            event: StreamEvent::TextStart { index: 0 },
        },
        AgentEvent::MessageUpdate {
            event: StreamEvent::TextDelta {
                index: 0,
                delta: "a needle, a needle".into(),
            },
        },
    ] {
        tui.agent(event);
    }
    tui.key("down");
    let frame = tui.frame();
    assert!(frame.contains("2 of 3"), "{frame}");
    tui.key("down");
    tui.agent(AgentEvent::MessageUpdate {
        event: StreamEvent::TextDelta {
            index: 0,
            delta: ", a needle".into(),
        },
    });
    tui.key("down");
    let frame = tui.frame();
    assert!(frame.contains("4 of 4"), "{frame}");
}
