//! Selecting with the mouse, and checking that a copy equals the source.

use proptest::prelude::*;
use tiller::agent::tool::{CommandDetails, DiffDetails, TextDetails};
use tiller::agent::{Details, NoticeLevel, ToolStatus};
use tiller::app::clipboard::CopyOutcome;
use tiller::app::tui::effects::effect::{Effect, TerminalEffect};
use tiller::app::tui::effects::open_target::{OpenTarget, split_line};
use tiller::app::tui::msg::{EffectResult, Msg};
use tiller::app::tui::terminal::input::{
    InputEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use tiller::app::tui::transcript::{CellClass, Fold, Stretch, Unit};
use unicode_segmentation::UnicodeSegmentation;

use super::app_kit::TestTui;
use super::markdown::block;
use super::transcript_support::{Stage, command_details, edit_details, picture, read_details};

/// The column and row of the first character of `text`.
fn find(picture: &str, text: &str) -> (u16, u16) {
    let found = picture.lines().enumerate().find_map(|(row, line)| {
        let at = line.find(text)?;
        Some((
            tiller::app::tui::text::width(&line[..at]) as u16,
            row as u16,
        ))
    });
    found.unwrap_or_else(|| panic!("{text:?} is not in\n{picture}"))
}

/// Selects from the first character of `from` to the last of `to`, and copies.
fn select(stage: &mut Stage, unit: Unit, from: &str, to: &str) -> String {
    let picture = stage.text();
    let (column, row) = find(&picture, from);
    let begin = stage.transcript.spot(column, row);
    let (column, row) = find(&picture, to);
    let last = tiller::app::tui::text::width(to) as u16 - 1;
    let end = stage.transcript.spot(column + last, row);
    stage.transcript.select(begin, unit);
    stage.transcript.select_to(end);
    stage.transcript.copy_selection();
    let copied = stage.draw_once().0.copied;
    stage.transcript.deselect();
    copied.map(|copied| copied.text).unwrap_or_default()
}

const ANSWER: &str = "# A title\n\nFirst **bold** word, then `code` and [a link](https://a.example/x).\n\n\
- one\n- two wraps because it is longer than the width of the screen\n\n```rust\nfn main() {\n\tgo();\n\n}\n```\n\nThe end.";

#[test]
fn an_answer_is_copied_as_markdown() {
    let cases = [
        (Unit::Character, "bold", "word", "bold** word"),
        (
            Unit::Character,
            "First",
            "then",
            "First **bold** word, then",
        ),
        (
            Unit::Character,
            "A title",
            "word",
            "# A title\n\nFirst **bold** word",
        ),
        (
            Unit::Character,
            "one",
            "screen",
            "- one\n- two wraps because it is longer than the width of the screen",
        ),
        (Unit::Character, "fn main", "go();", "fn main() {\n\tgo();"),
        (Unit::Character, "go();", "}", "go();\n\n}"),
        (
            Unit::Character,
            "main",
            "The end.",
            "main() {\n\tgo();\n\n}\n```\n\nThe end.",
        ),
        (
            Unit::Character,
            "fn",
            "The end.",
            "```rust\nfn main() {\n\tgo();\n\n}\n```\n\nThe end.",
        ),
        (
            Unit::Character,
            "two",
            "go();",
            "- two wraps because it is longer than the width of the screen\n\n```rust\nfn main() {\n\tgo();",
        ),
        (Unit::Word, "wraps", "wraps", "wraps"),
        (Unit::Word, "irst", "ord", "First **bold** word"),
        (
            Unit::Line,
            "screen",
            "screen",
            "- two wraps because it is longer than the width of the screen",
        ),
        (Unit::Line, "title", "title", "# A title"),
    ];
    for width in [24, 50, 100] {
        let mut stage = Stage::new(width, 40);
        stage.say(ANSWER, 7);
        for (unit, from, to, expected) in cases {
            assert_eq!(select(&mut stage, unit, from, to), expected, "at {width}");
        }
    }
}

#[test]
fn tool_output_is_copied_without_line_numbers_and_signs() {
    let mut stage = Stage::new(100, 60);
    stage.user("look");
    stage.tool_start("a", "read", read_details());
    stage.tool_end("a", "read", ToolStatus::Ok, "", read_details(), None);
    stage.tool_start("b", "edit", edit_details());
    stage.tool_end("b", "edit", ToolStatus::Ok, "", edit_details(), None);
    stage.tool_start("c", "bash", command_details(9, true));
    stage.tool_end(
        "c",
        "bash",
        ToolStatus::Ok,
        "",
        command_details(9, true),
        None,
    );
    let open = |stage: &mut Stage| stage.transcript.set_all(CellClass::Tool, Fold::Open);
    open(&mut stage);
    let cases = [
        (
            "let value_30",
            "= 31",
            "let value_30 = 30;\t// 行\nlet value_31 = 31",
        ),
        (
            "constant_time",
            "self.token.as_bytes())",
            "constant_time_eq(token.as_bytes(), self.token.as_bytes())",
        ),
        ("case_2", "case_3", "case_2 ... ok\ntest auth::case_3"),
    ];
    for (from, to, expected) in cases {
        assert_eq!(select(&mut stage, Unit::Character, from, to), expected);
    }
    let all = select(&mut stage, Unit::Character, "impl Session", "the end");
    assert!(
        all.contains("\n-    fn verify_token(&self, token: &str) -> bool { token"),
        "{all}"
    );
    assert!(all.contains("\n+        constant_time_eq"), "{all}");
    // A title is copied as shown, without its mark.
    assert_eq!(
        select(&mut stage, Unit::Word, "cargo test auth", "cargo"),
        "cargo"
    );
    let both = select(&mut stage, Unit::Character, "case_9", "ok");
    assert!(!both.is_empty());
}

#[test]
fn a_truncated_line_is_copied_in_full() {
    let long = "x".repeat(200);
    let details = Details::Command(CommandDetails {
        command: "cat x".into(),
        output: format!("first\n{long}\nlast"),
        total_lines: 3,
        exit_code: Some(0),
        ..CommandDetails::default()
    });
    let mut stage = Stage::new(60, 20);
    stage.tool_start("a", "bash", details.clone());
    stage.tool_end("a", "bash", ToolStatus::Ok, "", details, None);
    let copied = select(&mut stage, Unit::Character, "first", "last");
    assert_eq!(copied, format!("first\n{long}\nlast"));
}

/// The last visible word of a cut line is copied as a whole word.
#[test]
fn a_truncated_word_is_copied_in_full() {
    let mut stage = Stage::new(30, 20);
    let path = "src/app/tui/view/transcript/select.rs:12";
    let details = Details::Command(CommandDetails {
        command: "make".into(),
        output: format!("see {path} for more"),
        total_lines: 1,
        exit_code: Some(0),
        ..CommandDetails::default()
    });
    stage.tool_end("c1", "bash", ToolStatus::Ok, "", details, None);
    let picture = stage.text();
    assert!(
        picture.contains("see src/app") && !picture.contains(path),
        "{picture}"
    );
    assert_eq!(select(&mut stage, Unit::Word, "src/app", "src/app"), path);
}

#[test]
fn a_selection_stays_with_its_text() {
    let mut stage = Stage::new(40, 12);
    stage.say(ANSWER, 5);
    let at = find(&stage.text(), "longer");
    let spot = stage.transcript.spot(at.0, at.1);
    stage.transcript.select(spot, Unit::Word);
    stage.draw_once();
    for width in [80, 23, 40] {
        stage.width = width;
        stage.transcript.copy_selection();
        let drawn = stage.draw_once().0;
        assert_eq!(drawn.copied.unwrap().text, "longer", "at {width}");
        // The position is computed once, not in every frame.
        let Stretch { from, to } = drawn.selection.unwrap().head;
        assert_eq!([from.width, to.width], [width; 2]);
    }
    stage.user("More below moves it up");
    stage.transcript.copy_selection();
    assert_eq!(stage.draw_once().0.copied.unwrap().text, "longer");
}

fn down(tui: &mut TestTui, (column, row): (u16, u16)) {
    tui.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
}

fn copied(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Copy(text, _) => Some(&**text),
        _ => None,
    })
}

fn answered(text: &str) -> TestTui {
    let mut tui = TestTui::new(80, 24);
    let mut stage = Stage::new(80, 24);
    stage.say(text, 9);
    tui.app.transcript = stage.transcript;
    tui
}

#[test]
fn a_paste_ends_keyboard_selection() {
    let text: Vec<String> = (0..60).map(|line| format!("Line {line}.\n\n")).collect();
    let mut tui = answered(&text.concat());
    tui.frame();
    tui.key("alt+s");
    tui.frame();
    tui.send(Msg::Input(InputEvent::Paste("pasted".to_owned())));
    tui.frame();
    assert!(!tui.app.transcript.has_selection());
    tui.app
        .transcript
        .push_notice(NoticeLevel::Info, "It goes on");
    assert!(
        tui.frame().contains("It goes on"),
        "the view follows the end again"
    );
}

#[test]
fn a_drag_copies_and_the_next_key_removes_the_highlight() {
    let mut tui = answered("One two three.\n\nFour five six.");
    let picture = tui.frame();
    down(&mut tui, find(&picture, "two"));
    let end = find(&picture, "five");
    tui.mouse(MouseEventKind::Drag(MouseButton::Left), end.0 + 3, end.1);
    tui.frame();
    tui.mouse(MouseEventKind::Up(MouseButton::Left), end.0 + 3, end.1);
    let plain = tui.styled_frame();
    assert_eq!(copied(&tui.settled), Some("two three.\n\nFour five"));
    // The copy happens once, and the highlight stays until the next key.
    assert_eq!(tui.styled_frame(), plain);
    assert_eq!(copied(&tui.settled), None);
    assert!(tui.app.transcript.has_selection());
    assert_eq!(tui.key("ctrl+c"), []);
    assert!(!tui.app.transcript.has_selection());
    assert!(tui.frame().contains("Already copied when you selected it"));
}

#[test]
fn double_and_triple_clicks_select_more() {
    let mut tui = answered("Look at `src/auth.rs:41`, it is there.\nAnd here.");
    let picture = tui.frame();
    let (column, row) = find(&picture, "auth");
    let mut took = Vec::new();
    for _ in 0..4 {
        tui.click(column, row);
        tui.frame();
        took.push(copied(&tui.settled).map(str::to_owned));
        tui.now += 100;
    }
    let line = "Look at `src/auth.rs:41`, it is there.";
    let expected = [None, Some("src/auth.rs:41"), Some(line), None];
    assert_eq!(took, expected.map(|text| text.map(str::to_owned)));
    tui.now += 1000;
    tui.click(column, row);
    tui.frame();
    assert_eq!(copied(&tui.settled), None);
}

#[test]
fn a_drag_beyond_the_edge_scrolls_and_new_text_moves_nothing() {
    let lines: Vec<String> = (0..200).map(|line| format!("line-{line}\n")).collect();
    let mut tui = answered(&format!("```\n{}```", lines.concat()));
    let picture = tui.frame();
    let (column, row) = find(&picture, "line-195");
    down(&mut tui, (column, row));
    tui.mouse(MouseEventKind::Drag(MouseButton::Left), column, row - 1);
    tui.frame();
    tui.app.transcript.push_user("something new");
    assert_eq!(find(&tui.frame(), "line-195"), (column, row));
    tui.mouse(MouseEventKind::Drag(MouseButton::Left), column, 0);
    for _ in 0..100 {
        tui.wait(50);
        tui.frame();
    }
    tui.mouse(MouseEventKind::Up(MouseButton::Left), column, 0);
    tui.frame();
    let text = copied(&tui.settled).unwrap();
    assert!(text.lines().count() > 90, "{text}");
    assert!(text.ends_with("line-194\nl"), "{text}");
    let top = tui.frame();
    tui.wait(500);
    assert_eq!(tui.frame(), top, "scrolling has stopped");
}

#[test]
fn only_a_click_on_a_title_folds() {
    let mut tui = TestTui::new(80, 24);
    let mut stage = Stage::new(80, 24);
    stage.tool_start("c", "bash", command_details(30, true));
    stage.tool_end(
        "c",
        "bash",
        ToolStatus::Ok,
        "",
        command_details(30, true),
        None,
    );
    tui.app.transcript = stage.transcript;
    let folded = tui.frame();
    let text = find(&folded, "case_30");
    tui.click(text.0, text.1);
    assert_eq!(tui.frame(), folded);
    tui.now += 1000;
    let title = find(&folded, "cargo test");
    tui.click(title.0, title.1);
    assert_ne!(tui.frame(), folded);
}

#[test]
fn a_click_with_ctrl_opens_a_change_at_its_line() {
    let diff = DiffDetails {
        path: "src/auth.rs".into(),
        diff: " 40 impl Session {\n-41     old(token)\n+41     new(token)\n 42 }".into(),
        first_changed_line: Some(41),
        added: 1,
        removed: 1,
        ..DiffDetails::default()
    };
    for (word, opened) in [
        ("src/auth", "src/auth.rs:41"),
        ("Session", "src/auth.rs:40"),
        ("new(", "src/auth.rs:41"),
    ] {
        let mut tui = TestTui::new(80, 24);
        let mut stage = Stage::new(80, 24);
        let details = || Details::Diff(diff.clone());
        stage.tool_start("c", "edit", details());
        stage.tool_end("c", "edit", ToolStatus::Ok, "", details(), None);
        tui.app.transcript = stage.transcript;
        let (column, row) = find(&tui.frame(), word);
        tui.send(Msg::Input(InputEvent::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::CONTROL,
        })));
        tui.mouse(MouseEventKind::Up(MouseButton::Left), column, row);
        tui.frame();
        assert_eq!(tui.settled, [Effect::Open(opened.into())], "{word}");
    }
}

#[test]
fn a_click_with_ctrl_opens_a_file_at_its_line() {
    let mut tui = answered("Look at `src/auth.rs:41`, it is there.");
    let (column, row) = find(&tui.frame(), "auth");
    tui.send(Msg::Input(InputEvent::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::CONTROL,
    })));
    tui.mouse(MouseEventKind::Up(MouseButton::Left), column, row);
    tui.frame();
    assert_eq!(tui.settled, [Effect::Open("src/auth.rs:41".into())]);
    assert!(!tui.app.transcript.has_selection());
    let file = || std::path::PathBuf::from("/home/me/shop/src/auth.rs");
    let found = Ok(OpenTarget::File(file(), Some(41)));
    let effects = tui.send(Msg::Done(EffectResult::Opening(found)));
    let expected = TerminalEffect::OpenFile(file(), Some(41));
    assert_eq!(effects, [Effect::Terminal(expected)]);
    let none = Err("x isn't a file or a link".to_owned());
    tui.send(Msg::Done(EffectResult::Opening(none)));
    assert!(tui.frame().contains("x isn't a file"));
    for (word, path, line) in [
        ("a.rs", "a.rs", None),
        ("a.rs:7", "a.rs", Some(7)),
        ("a.rs:7:2", "a.rs", Some(7)),
        ("a:b", "a:b", None),
    ] {
        assert_eq!(split_line(word), (path, line));
    }
}

#[test]
fn keys_copy_the_last_reply_and_the_selection() {
    let mut tui = answered("First.\n\n```rust\nfn a() {}\n```\n\n```sh\ncargo test\n```");
    tui.frame();
    let effects = tui.key("ctrl+x");
    assert!(copied(&effects).unwrap().starts_with("First.\n\n```rust"));
    tui.key("alt+x");
    let frame = tui.frame();
    assert!(frame.contains("Copy"), "{frame}");
    for (row, text) in [
        ("reply", "First."),
        ("sh", "cargo test"),
        ("rust", "fn a() {}"),
    ] {
        let line = frame
            .lines()
            .find(|line| line.contains(&format!(" {row} ")))
            .unwrap();
        assert!(line.contains(text), "{line}");
    }
    tui.write("rust");
    assert_eq!(
        copied(&tui.key("enter")),
        Some("First.\n\n```rust\nfn a() {}\n```\n\n```sh\ncargo test\n```")
    );
    tui.write("/copy");
    tui.key("enter");
    tui.key("down");
    assert_eq!(copied(&tui.key("enter")), Some("cargo test"));
}

#[test]
fn the_notice_says_what_happened_to_a_copy() {
    let file = || std::path::PathBuf::from("/home/me/.local/share/tiller/copied.txt");
    let bytes = b"\x1b]52;c;QQ==\x1b\\".to_vec();
    let cases = [
        (CopyOutcome::Copied("wl-copy"), "Copied 3 lines (wl-copy)"),
        (CopyOutcome::Tmux, "Copied 3 lines to tmux"),
        (
            CopyOutcome::Terminal(bytes.clone(), Some(file())),
            "Copied 3 lines through the terminal",
        ),
        (
            CopyOutcome::TooLong(Ok(file())),
            "Too long for the clipboard",
        ),
        (
            CopyOutcome::TooLong(Err("disk full".into())),
            "Nothing copied",
        ),
    ];
    for (outcome, said) in cases {
        let asks = matches!(outcome, CopyOutcome::Terminal(..));
        let mut tui = answered("Hello");
        let effects = tui.send(Msg::Done(EffectResult::Copied("3 lines".into(), outcome)));
        let expected = Effect::Terminal(TerminalEffect::AskClipboard(bytes.clone()));
        assert_eq!(effects, if asks { vec![expected] } else { Vec::new() });
        assert!(tui.frame().contains(said), "{}", tui.frame());
    }
}

/// The characters of `text` that the generated sources use, without whitespace.
fn letters(text: &str) -> String {
    let known = |grapheme: &&str| LETTERS.contains(grapheme);
    text.graphemes(true).filter(known).collect()
}

const LETTERS: [&str; 9] = [
    "a",
    "b",
    "z",
    "日",
    "本",
    "é",
    "e\u{301}",
    "👩\u{200d}👧",
    "ß",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => (0..LETTERS.len()).prop_map(|at| LETTERS[at]),
        3 => Just(" "),
        1 => Just("\t"),
        1 => Just("\n"),
    ];
    proptest::collection::vec(piece, 1..120).prop_map(|pieces| pieces.concat())
}

/// The text on the screen from one cell to another, in reading order.
pub fn shown(picture: &ratatui_core::buffer::Buffer, from: (u16, u16), to: (u16, u16)) -> String {
    let mut out = String::new();
    for y in from.1..=to.1 {
        let left = if y == from.1 { from.0 } else { 0 };
        let right = if y == to.1 {
            to.0
        } else {
            picture.area.width - 1
        };
        // Either half selects a wide character.
        let is_half =
            |x: u16| x > 0 && tiller::app::tui::text::width(picture[(x - 1, y)].symbol()) > 1;
        let left = if is_half(left) { left - 1 } else { left };
        let mut x = left;
        while x <= right {
            let symbol = picture[(x, y)].symbol();
            out.push_str(symbol);
            x += (tiller::app::tui::text::width(symbol) as u16).max(1);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A copy is a piece of the source with exactly the highlighted letters.
    #[test]
    fn a_copy_is_a_piece_of_the_source(
        text in text(),
        width in 12_u16..50,
        ends in (0_u16..50, 0_u16..30, 0_u16..50, 0_u16..30),
        kind in 0..3,
    ) {
        let mut stage = Stage::new(width, 30);
        match kind {
            0 => {
                let details = Details::Command(CommandDetails {
                    command: "x".into(),
                    output: text.clone(),
                    total_lines: 1,
                    exit_code: Some(0),
                    ..CommandDetails::default()
                });
                stage.tool_start("a", "bash", details.clone());
                stage.tool_end("a", "bash", ToolStatus::Ok, "", details, None);
            }
            1 => {
                let details = Details::Text(TextDetails {
                    path: "x".into(),
                    text: text.clone(),
                    first_line: 5,
                    line_count: 1,
                    ..TextDetails::default()
                });
                stage.tool_start("a", "read", details.clone());
                stage.tool_end("a", "read", ToolStatus::Ok, "", details, None);
            }
            _ => stage.user(&text),
        }
        stage.transcript.set_all(CellClass::Tool, Fold::Open);
        let (drawn, buffer) = stage.draw();
        let last = drawn.rows.len() as u16;
        // The title has no source.
        let first = u16::from(kind < 2);
        prop_assume!(last > first);
        let end = |column: u16, row: u16| (column % width, first + row % (last - first));
        let mut ends = [end(ends.0, ends.1), end(ends.2, ends.3)];
        ends.sort_by_key(|(column, row)| (*row, *column));
        let [from, to] = ends;
        stage.transcript.select(stage.transcript.spot(from.0, from.1), Unit::Character);
        stage.transcript.select_to(stage.transcript.spot(to.0, to.1));
        stage.transcript.copy_selection();
        let copied = stage.draw_once().0.copied.unwrap_or_default().text;
        let marked = shown(&buffer, from, to);
        // The mark for hidden text has no source either, such as `… 1 earlier`.
        prop_assume!(!shown(&buffer, (0, from.1), (width - 1, to.1)).contains('…'));
        prop_assert!(text.contains(&copied), "{copied:?} in\n{}", picture(&buffer));
        prop_assert_eq!(letters(&copied), letters(&marked), "{}", picture(&buffer));
    }

    /// Markdown is copied with the marks that the screen hides.
    #[test]
    fn markdown_is_copied_with_its_marks(
        blocks in proptest::collection::vec(block(), 0..8),
        width in 12_u16..60,
        ends in (0_u16..60, 0_u16..60, 0_u16..60, 0_u16..60),
    ) {
        let source = blocks.concat();
        let mut stage = Stage::new(width, 60);
        stage.say(&source, 1000);
        stage.transcript.scroll(tiller::app::tui::transcript::ScrollBy::Top);
        let (drawn, buffer) = stage.draw();
        let rows = drawn.rows.len() as u16;
        prop_assume!(rows > 0);
        let end = |column: u16, row: u16| (column % width, row % rows);
        let mut ends = [end(ends.0, ends.1), end(ends.2, ends.3)];
        ends.sort_by_key(|(column, row)| (*row, *column));
        let [from, to] = ends;
        stage.transcript.select(stage.transcript.spot(from.0, from.1), Unit::Character);
        stage.transcript.select_to(stage.transcript.spot(to.0, to.1));
        stage.transcript.copy_selection();
        let copied = stage.draw_once().0.copied.unwrap_or_default().text;
        // A selection within a code block leaves out the quote marks and indents around it.
        let mut rest = source.as_str();
        for line in copied.lines() {
            let at = rest.find(line);
            prop_assert!(at.is_some(), "{copied:?} in {source:?}\n{}", picture(&buffer));
            rest = &rest[at.unwrap() + line.len()..];
        }
    }
}

/// Without a mouse, a caret moves over the text and selects from its mark.
#[test]
fn keys_select_and_copy() {
    let answer = "One two **three**.\n\n- four five\n- six\n\n```\nlet a = 1;\nlet b = 2;\n```\n\nSee src/auth.rs:41 now.";
    // Keys, and the copied text.
    let cases: [(&[&str], &str); 10] = [
        (&["enter"], "See src/auth.rs:41 now."),
        (&["alt+f", "space", "end", "enter"], "src/auth.rs:41 now."),
        (&["shift+right", "shift+right", "y"], "See"),
        (&["up", "V", "up", "enter"], "let a = 1;\nlet b = 2;"),
        (
            &["up", "up", "up", "right", "v", "up", "home", "y"],
            "- four five\n- si",
        ),
        (
            &["ctrl+home", "alt+f", "v", "alt+f", "o", "left", "left", "y"],
            "e two **t",
        ),
        (&["ctrl+home", "v", "ctrl+end", "end", "y"], answer),
        (
            &["ctrl+home", "end", "left", "v", "esc", "enter"],
            "One two **three**.",
        ),
        (&["left", "left", "enter"], "let b = 2;"),
        (
            &["pageup", "pagedown", "ctrl+p", "ctrl+n", "enter"],
            "See src/auth.rs:41 now.",
        ),
    ];
    for (keys, expected) in cases {
        let mut tui = answered(answer);
        tui.frame();
        tui.key("alt+s");
        for key in keys {
            tui.frame();
            assert_eq!(copied(&tui.settled), None);
            tui.key(key);
        }
        let frame = tui.frame();
        assert_eq!(copied(&tui.settled), Some(expected), "{keys:?}\n{frame}");
        assert!(!frame.contains("Select "), "{frame}");
    }
    let mut tui = answered(answer);
    tui.frame();
    tui.key("alt+s");
    tui.frame();
    tui.key("alt+f");
    let frame = tui.frame();
    assert!(frame.contains("Space mark"), "{frame}");
    tui.key("e");
    tui.frame();
    assert_eq!(tui.settled, [Effect::Open("src/auth.rs:41".into())]);
    for key in ["v", "up", "esc", "esc"] {
        tui.key(key);
        tui.frame();
    }
    assert!(!tui.app.transcript.has_selection());
    assert_eq!(copied(&tui.settled), None);
}

/// The caret stays visible in text longer than the screen.
#[test]
fn the_caret_scrolls() {
    let lines: Vec<String> = (0..200).map(|line| format!("line-{line}\n")).collect();
    let mut tui = answered(&format!("```\n{}```", lines.concat()));
    tui.frame();
    tui.key("alt+s");
    tui.frame();
    tui.key("v");
    for _ in 0..60 {
        tui.key("up");
        tui.frame();
    }
    let frame = tui.frame();
    assert!(
        frame.contains("line-139") && !frame.contains("line-199"),
        "{frame}"
    );
    for _ in 0..58 {
        tui.key("down");
    }
    assert!(tui.frame().contains("line-197"));
    tui.key("y");
    tui.frame();
    assert_eq!(copied(&tui.settled), Some("line-197\nline-198\nl"));
}

/// An empty answer at the end must not count as the end of the text.
#[test]
fn an_empty_answer_is_not_the_end() {
    let mut stage = Stage::new(80, 24);
    stage.say("One two.\n\nThree.", 9);
    stage.say("", 9);
    let mut tui = TestTui::new(80, 24);
    tui.app.transcript = stage.transcript;
    tui.frame();
    tui.key("alt+s");
    for key in ["ctrl+home", "v", "ctrl+end", "end"] {
        tui.frame();
        tui.key(key);
    }
    tui.frame();
    tui.key("y");
    tui.frame();
    assert_eq!(copied(&tui.settled), Some("One two.\n\nThree."));
    let (column, row) = find(&tui.frame(), "two");
    down(&mut tui, (column, row));
    tui.mouse(MouseEventKind::Drag(MouseButton::Left), column, row + 8);
    tui.frame();
    tui.mouse(MouseEventKind::Up(MouseButton::Left), column, row + 8);
    tui.frame();
    assert_eq!(copied(&tui.settled), Some("two.\n\nThree."));
}

/// A paste means that the user wants to write: the selection ends and the view follows the end.
#[test]
fn a_paste_ends_a_selection_but_losing_the_focus_does_not() {
    let mut tui = answered("One two three.");
    tui.frame();
    tui.key("alt+s");
    tui.frame();
    tui.send(Msg::Input(InputEvent::Focus(false)));
    tui.frame();
    assert!(tui.app.transcript.viewport().is_held());
    tui.send(Msg::Input(InputEvent::Paste("text".into())));
    tui.frame();
    assert!(!tui.app.transcript.has_selection());
    assert!(!tui.app.transcript.viewport().is_held());
}

#[test]
fn a_click_ends_a_drag_whose_release_was_lost() {
    let mut tui = answered("One two three.");
    let (column, row) = find(&tui.frame(), "two");
    down(&mut tui, (column, row));
    tui.mouse(MouseEventKind::Drag(MouseButton::Left), column + 2, row);
    tui.frame();
    assert!(tui.app.transcript.viewport().is_held());
    tui.click(column, row);
    assert!(!tui.app.transcript.viewport().is_held());
}
