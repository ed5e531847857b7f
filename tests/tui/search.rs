//! Searching the conversation.

use std::sync::Arc;

use ratatui_core::buffer::Cell;
use ratatui_core::layout::Size;
use tiller::agent::tool::CommandDetails;
use tiller::agent::{AgentEvent, Details, Phase, ToolStatus};
use tiller::app::tui::effects::effect::Effect;
use tiller::app::tui::effects::page_searcher::{PAUSE, PageSearcher};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::screen_buffer::ScreenBuffer;
use tiller::app::tui::transcript::{PageSearch, Transcript};
use tiller::llm::{AssistantMessage, BlockKind, Content, Message, StreamEvent};

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
fn keys_move_through_matches_from_the_end_and_open_folds() {
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
    assert!(tui.frame().contains("4 of 4"), "the search wraps around");
    tui.key("down");
    assert!(tui.frame().contains("1 of 4"));
    let top = tui.frame();
    tui.key("esc");
    let closed = tui.frame();
    assert_eq!(
        closed.lines().next(),
        top.lines().next(),
        "closing keeps the position"
    );
    assert!(!closed.contains("Find"));
}

#[test]
fn without_a_match_the_view_is_where_it_was() {
    let mut tui = conversation();
    let before = tui.frame();
    tui.write("draft");
    tui.key("ctrl+f");
    tui.write("nee");
    let found = tui.frame();
    assert!(found.contains("It is the needle in hay."), "{found}");
    tui.write("x");
    assert!(tui.frame().contains("no match"));
    tui.key("esc");
    let after = tui.frame();
    assert_eq!(
        after.replace("draft           ", "Ask for anything"),
        before
    );
    tui.key("ctrl+f");
    tui.write("needle");
    tui.key("enter");
    // What it opened is closed again.
    for _ in 0.."needle".len() {
        tui.frame();
        tui.key("backspace");
    }
    tui.key("esc");
    assert_eq!(tui.frame(), after);
}

#[test]
fn a_prompt_sent_after_a_search_is_visible() {
    for running in [false, true] {
        let mut tui = conversation();
        if running {
            tui.running(Phase::Streaming);
        }
        tui.frame();
        tui.key("ctrl+f");
        tui.write("Where is");
        tui.frame();
        tui.key("esc");
        assert!(tui.frame().contains("Where is the needle?"));
        assert!(!tui.app.transcript.is_following());
        tui.write("go on");
        tui.key("enter");
        let frame = tui.frame();
        assert!(running || frame.contains("❯ go on"), "{frame}");
        assert!(tui.app.transcript.is_following(), "{running}");
    }
}

#[test]
fn capitals_make_the_search_case_sensitive_and_spaces_match_any_whitespace() {
    for (query, count) in [
        ("NEEDLE", "1 of 1"),
        ("is **the needle", "1 of 1"),
        ("first line 0", "1 of 1"),
        ("hay", "101"),
        ("not there", "no match"),
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
fn matches_are_highlighted() {
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
        "no highlight remains and nothing moved"
    );
}

/// Draws and loads the pages that this needs.
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

/// A stored conversation with only its last pages in memory.
fn stored() -> TestTui {
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
    tui
}

/// The search of pages that aren't in memory, if one was requested.
fn pages_of(effects: Vec<Effect>) -> Option<PageSearch> {
    effects.into_iter().find_map(|effect| match effect {
        Effect::SearchPages(pages) => pages.map(|pages| *pages),
        _ => None,
    })
}

/// The text highlighted as the current match.
fn marked(tui: &mut TestTui) -> String {
    let draw = |tui: &mut TestTui| tui.bytes(&mut ScreenBuffer::new(Size::new(80, 24))).1;
    // The style of the only match in another conversation.
    let mut stage = Stage::new(80, 24);
    stage.say("Ж", 9);
    let mut other = TestTui::new(80, 24);
    other.app.transcript = stage.transcript;
    draw(&mut other);
    other.key("ctrl+f");
    other.write("Ж");
    let frame = draw(&mut other);
    let mark = frame.content.iter().find(|cell| cell.symbol() == "Ж");
    let ground = mark.map(|cell| cell.bg).unwrap();
    let frame = draw(tui);
    let marked = frame.content.iter().filter(|cell| cell.bg == ground);
    marked.map(Cell::symbol).collect()
}

/// Text is found as the screen shows it, without its markup, and also as it was written.
#[test]
fn text_is_found_as_shown_and_as_written() {
    let reply = "Use the `run` function of **the parser** now; see [the *docs*](https://example.org/d) at \
                 AT&amp;T.\n\n| a `b` c | d |\n|-|-|\n| e **f** g | h |\n\n> quoted\n> `text`\n";
    for (query, shown) in [
        ("run function", "run function"),
        ("the parser now", "the parser now"),
        ("Use the run", "Use the run"),
        ("the docs", "the docs"),
        // Text added by the screen isn't highlighted.
        ("docs (https://example.org/d)", "docshttps://example.org/d"),
        ("AT&T", "AT&T"),
        ("a b c", "a b c"),
        ("e f g", "e f g"),
        ("quoted text", "quoted text"),
        // As it was written.
        ("the `run`", "the run"),
        ("**the parser**", "the parser"),
        ("&amp;", "&"),
    ] {
        let mut stage = Stage::new(80, 24);
        stage.say(reply, 9);
        let mut tui = TestTui::new(80, 24);
        tui.app.transcript = stage.transcript;
        tui.frame();
        tui.key("ctrl+f");
        tui.write(query);
        let frame = tui.frame();
        assert!(frame.contains("1 of 1"), "{query}:\n{frame}");
        assert_eq!(marked(&mut tui), shown, "{query}");
    }
    // Markup that isn't shown isn't found.
    let mut stage = Stage::new(80, 24);
    stage.say("```rust\nfn main() {}\n```\n", 9);
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = stage.transcript;
    tui.frame();
    tui.key("ctrl+f");
    tui.write("rust\nfn");
    assert!(tui.frame().contains("no match"));
}

/// A match that starts far above the screen and one that overlaps another are highlighted
/// correctly.
#[test]
fn long_and_overlapping_matches_are_highlighted_correctly() {
    let mut stage = Stage::new(80, 24);
    stage.say(&"abab ".repeat(200), 99);
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = stage.transcript;
    tui.frame();
    tui.key("ctrl+f");
    tui.write(&"abab ".repeat(39));
    tui.key("down");
    let frame = tui.frame();
    assert!(frame.contains("1 of 5"), "{frame}");
    let text = marked(&mut tui).replace(' ', "");
    assert_eq!(text, "abab".repeat(39));
}

/// A match in the hidden lines of a command shows those lines.
#[test]
fn a_match_in_hidden_lines_of_a_command_shows_them() {
    let lines: Vec<String> = (0..60).map(|line| format!("echo line {line}")).collect();
    for (description, query) in [
        (None, "line 50"),
        (None, "line 1\n"),
        (Some("Print lines"), "line 50"),
        (
            Some(
                "A description that is longer than any title has room for, so that its last words need a second row",
            ),
            "echo line 0",
        ),
    ] {
        let details = Details::Command(CommandDetails {
            command: lines.join("\n"),
            description: description.map(str::to_owned),
            output: "out".into(),
            total_lines: 1,
            exit_code: Some(0),
            ..CommandDetails::default()
        });
        let mut stage = Stage::new(80, 24);
        stage.tool_start("a", "bash", details.clone());
        stage.tool_end("a", "bash", ToolStatus::Ok, "", details, None);
        let mut tui = TestTui::new(80, 24);
        tui.app.transcript = stage.transcript;
        tui.frame();
        tui.key("ctrl+f");
        tui.write(query.trim());
        let frame = tui.frame();
        assert!(frame.contains("1 of 1"), "{query}:\n{frame}");
        assert!(
            marked(&mut tui).starts_with(query.trim()),
            "{query}:\n{}",
            tui.frame()
        );
        // It folds again when the search moves elsewhere.
        tui.key("backspace");
        tui.write("nowhere");
        assert!(!tui.frame().contains("line 50"));
    }
}

/// A new search cancels the previous one. A search starts after a short pause in typing.
#[tokio::test(start_paused = true)]
async fn one_search_of_stored_pages_runs_at_a_time() {
    let mut tui = stored();
    let (results, mut found) = tokio::sync::mpsc::unbounded_channel();
    let mut searcher = PageSearcher::new(results);
    tui.key("ctrl+f");
    let mut searches = 0;
    for c in "answer 3 of".chars() {
        for effect in tui.key(&c.to_string().replace(' ', "space")) {
            if let Effect::SearchPages(pages) = effect {
                searches += usize::from(pages.is_some());
                searcher.search(pages.map(|pages| *pages));
            }
        }
        tokio::time::advance(PAUSE / 2).await;
    }
    assert!(searches > 5, "each key would start one: {searches}");
    let result = found.recv().await.unwrap();
    tui.send(Msg::Done(result));
    assert!(tui.frame().contains("1 of 1"), "{}", tui.frame());
    searcher.search(None);
    assert!(found.try_recv().is_err(), "only one search ran");
}

#[test]
fn a_canceled_search_reads_no_page() {
    let mut tui = stored();
    tui.key("ctrl+f");
    let pages = pages_of(tui.key("a")).unwrap();
    assert!(pages.clone().run(|| false).is_none());
    assert!(pages.run(|| true).is_some());
    // Esc cancels the search.
    let effects = tui.key("esc");
    assert!(effects.contains(&Effect::SearchPages(None)), "{effects:?}");
}

/// A longer query only searches where the shorter one matched.
#[test]
fn a_longer_query_narrows_the_matches() {
    let mut tui = stored();
    tui.key("ctrl+f");
    let pages = pages_of(tui.key("7")).unwrap();
    tui.send(Msg::Done(EffectResult::PagesSearched(
        pages.run(|| true).unwrap(),
    )));
    let before = tui.frame();
    tui.write("7");
    // "77", "177", "277", "377": on four of seven pages.
    let effects = tui.key("space");
    let pages = pages_of(effects).unwrap();
    tui.send(Msg::Done(EffectResult::PagesSearched(
        pages.run(|| true).unwrap(),
    )));
    let frame = tui.frame();
    assert!(frame.contains("of 4"), "{before}\n{frame}");
    // Without a match, an even longer query reads no page.
    let pages = pages_of(tui.key("x")).unwrap();
    tui.send(Msg::Done(EffectResult::PagesSearched(
        pages.run(|| true).unwrap(),
    )));
    assert!(tui.frame().contains("no match"), "{}", tui.frame());
    assert!(pages_of(tui.key("y")).is_none());
}

#[test]
fn pages_not_in_memory_are_searched_too() {
    let mut tui = stored();
    tui.key("ctrl+f");
    let mut effects = Vec::new();
    for c in "answer 3 of".chars() {
        effects = tui.key(&c.to_string().replace(' ', "space"));
    }
    let found = pages_of(effects).unwrap().run(|| true).unwrap();
    tui.send(Msg::Done(EffectResult::PagesSearched(found)));
    // The page with the match is loaded when it is shown.
    read_pages(&mut tui);
    let frame = tui.frame();
    assert!(
        frame.contains("answer 3 of many") && frame.contains("1 of 1"),
        "{frame}"
    );
}

#[test]
fn newer_text_is_found_by_the_next_step() {
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
            event: StreamEvent::BlockStart {
                index: 0,
                block: Content::text(""),
            },
        },
        AgentEvent::MessageUpdate {
            event: StreamEvent::BlockDelta {
                kind: BlockKind::Text,
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
        event: StreamEvent::BlockDelta {
            kind: BlockKind::Text,
            index: 0,
            delta: ", a needle".into(),
        },
    });
    tui.key("down");
    let frame = tui.frame();
    assert!(frame.contains("4 of 4"), "{frame}");
}
