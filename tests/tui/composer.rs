//! The composer as a user sees it: keys in, rows and caret out.

use tiller::app::action::Action as A;
use tiller::app::tui::composer::{Composer, History, Narrowing, SpanKind};
use unicode_width::UnicodeWidthStr;

/// A composer of 20 columns and 4 rows.
fn empty() -> Composer {
    Composer::new(20, 4)
}

fn typed(text: &str) -> Composer {
    let mut composer = empty();
    text.chars().for_each(|c| composer.insert(c));
    composer
}

fn pasted(text: &str) -> Composer {
    let mut composer = empty();
    composer.paste(text);
    composer
}

fn holding(text: &str) -> Composer {
    let mut composer = empty();
    composer.set(text);
    composer
}

/// True if the action changes the text or moves the caret.
pub fn changes(composer: &mut Composer, action: A) -> bool {
    let state = |composer: &Composer| (composer.revision(), composer.layout());
    let before = state(composer);
    composer.apply(action);
    state(composer) != before
}

/// Moves the caret to the start of the text in a composer without history.
fn to_start(composer: &mut Composer) {
    while changes(composer, A::Up) {}
    composer.apply(A::LineStart);
}

/// The visible rows, with `│` at the caret.
fn picture(composer: &Composer) -> String {
    let layout = composer.layout();
    let mut rows: Vec<String> = layout
        .rows
        .iter()
        .map(|row| row.iter().map(|span| span.text.as_str()).collect())
        .collect();
    let (col, row) = layout.cursor;
    let row = &mut rows[usize::from(row)];
    let at = row
        .char_indices()
        .nth(col.into())
        .map_or(row.len(), |(at, _)| at);
    row.insert(at, '│');
    rows.join("\n")
}

#[test]
fn text_wraps_at_words_and_scrolls_to_the_caret() {
    let mut composer = typed("the quick brown fox jumps over the lazy dog");
    assert_eq!(
        picture(&composer),
        "the quick brown fox \njumps over the lazy \ndog│"
    );
    composer.resize(11, 2);
    assert_eq!(picture(&composer), "the lazy \ndog│");
    assert_eq!(composer.layout().total_rows, 5);
    assert_eq!(composer.layout().first_row, 3);
    to_start(&mut composer);
    assert_eq!(picture(&composer), "│the quick \nbrown fox ");
    composer.apply(A::Down);
    composer.apply(A::Down);
    assert_eq!(picture(&composer), "brown fox \n│jumps over ");
    composer.resize(40, 10);
    assert_eq!(
        picture(&composer),
        "the quick brown fox │jumps over the lazy \ndog"
    );
}

#[test]
fn an_empty_editor_has_one_row() {
    let composer = empty();
    assert_eq!(picture(&composer), "│");
    assert!(composer.is_empty());
    assert_eq!(composer.layout().total_rows, 1);
}

#[test]
fn up_and_down_keep_their_column() {
    let mut composer = holding("a long line\nx\n\tanother one");
    to_start(&mut composer);
    for _ in 0..6 {
        composer.apply(A::Right);
    }
    assert_eq!(picture(&composer), "a long│ line\nx\n    another one");
    composer.apply(A::Down);
    assert_eq!(picture(&composer), "a long line\nx│\n    another one");
    composer.apply(A::Down);
    assert_eq!(picture(&composer), "a long line\nx\n    an│other one");
    composer.apply(A::Up);
    composer.apply(A::Up);
    assert_eq!(picture(&composer), "a long│ line\nx\n    another one");
    composer.apply(A::Down);
    composer.apply(A::LineEnd);
    composer.apply(A::Down);
    assert_eq!(picture(&composer), "a long line\nx\n│    another one");
}

#[test]
fn word_motions_use_unicode_words_in_scripts_without_spaces() {
    let stops = |text: &str, motion: A| {
        let mut composer = typed(text);
        if motion == A::WordRight {
            to_start(&mut composer);
        }
        let mut stops = Vec::new();
        while changes(&mut composer, motion) {
            stops.push(composer.before_caret().len());
        }
        stops
    };
    for (text, expected) in [
        ("one two_3.x", &[3, 9, 10, 11][..]),
        ("日本カタカナ", &[3, 6, 18]),
        ("abc日本 de", &[3, 6, 9, 12]),
        ("สวัสดี x", &[18, 20]),
    ] {
        assert_eq!(stops(text, A::WordRight), expected, "{text}");
    }
    assert_eq!(stops("日本 カナde", A::WordLeft), [13, 7, 3, 0]);
}

#[test]
fn undo_goes_word_by_word_and_moving_ends_a_step() {
    let mut composer = typed("one two three");
    let mut seen = Vec::new();
    while changes(&mut composer, A::Undo) {
        seen.push(composer.text());
    }
    assert_eq!(seen, ["one two ", "one ", ""]);
    while changes(&mut composer, A::Redo) {}
    assert_eq!(composer.text(), "one two three");

    let mut composer = typed("ab");
    composer.apply(A::Left);
    composer.insert('c');
    composer.apply(A::Undo);
    assert_eq!(picture(&composer), "a│b");
    composer.insert('d');
    assert!(!changes(&mut composer, A::Redo));
    assert_eq!(composer.text(), "adb");
}

#[test]
fn consecutive_deletions_are_one_undo_step() {
    let mut composer = typed("word");
    for _ in 0..3 {
        composer.apply(A::DeleteBackward);
    }
    composer.apply(A::Undo);
    assert_eq!(picture(&composer), "word│");
    to_start(&mut composer);
    composer.apply(A::DeleteForward);
    composer.apply(A::DeleteForward);
    composer.apply(A::Undo);
    assert_eq!(picture(&composer), "│word");
}

#[test]
fn consecutive_kills_are_yanked_together_then_older_ones() {
    let mut composer = typed("one two three");
    composer.apply(A::CutWordBackward);
    composer.apply(A::Left);
    composer.apply(A::Right);
    composer.apply(A::CutWordBackward);
    composer.apply(A::CutWordBackward);
    assert_eq!(picture(&composer), "│");
    composer.apply(A::Yank);
    assert_eq!(picture(&composer), "one two │");
    composer.apply(A::YankPop);
    assert_eq!(picture(&composer), "three│");
    composer.apply(A::YankPop);
    assert_eq!(picture(&composer), "one two │");
    composer.apply(A::Left);
    assert!(!changes(&mut composer, A::YankPop));
}

#[test]
fn line_kills_join_lines_at_their_ends() {
    let mut composer = holding("one\ntwo\nthree");
    composer.apply(A::CutToStart);
    composer.apply(A::CutToStart);
    assert_eq!(picture(&composer), "one\ntwo│");
    to_start(&mut composer);
    composer.apply(A::CutToEnd);
    composer.apply(A::CutToEnd);
    assert_eq!(picture(&composer), "│two");
    composer.apply(A::Yank);
    assert_eq!(composer.text(), "one\ntwo");
}

#[test]
fn pastes_are_cleaned_and_long_ones_become_placeholders() {
    let mut composer = pasted("two\r\nlines\x1b[31m\x07\tand\rmore");
    assert_eq!(composer.text(), "two\nlines[31m\tand\nmore");
    composer.clear();
    composer.paste(&"x\r\n".repeat(200));
    composer.paste(&"y".repeat(1234));
    assert_eq!(composer.text(), "x\n".repeat(200) + &"y".repeat(1234));
    assert!(!composer.is_empty());
    composer.resize(80, 4);
    assert_eq!(
        picture(&composer),
        "[paste #1 +200 lines][paste #2 1234 chars]│"
    );
    composer.resize(10, 4);
    let layout = composer.layout();
    assert_eq!(layout.total_rows, 2);
    assert_eq!(layout.rows[0][0].text, "[paste #…");
    assert_eq!(layout.rows[0][0].kind, SpanKind::Placeholder);
    assert_eq!(composer.take(), "x\n".repeat(200) + &"y".repeat(1234));
    assert!(composer.is_empty());
}

#[test]
fn text_that_looks_like_a_placeholder_is_text() {
    let mut composer = pasted(&"long\n".repeat(20));
    for c in " [paste #1 +20 lines]".chars() {
        composer.insert(c);
    }
    assert_eq!(
        composer.text(),
        "long\n".repeat(20) + " [paste #1 +20 lines]"
    );
    composer.apply(A::DeleteBackward);
    assert_eq!(
        composer.text(),
        "long\n".repeat(20) + " [paste #1 +20 lines"
    );
}

#[test]
fn a_killed_paste_outlives_the_prompt() {
    let long = "long\n".repeat(20);
    let mut composer = pasted(&long);
    composer.apply(A::CutToStart);
    assert_eq!(composer.take(), "");
    composer.paste(&"other\n".repeat(30));
    composer.apply(A::Yank);
    assert_eq!(composer.text(), "other\n".repeat(30) + &long);
}

#[test]
fn a_sent_prompt_is_in_the_history_and_cannot_be_undone() {
    let mut composer = typed("first prompt");
    assert_eq!(composer.take(), "first prompt");
    assert!(composer.is_empty());
    assert!(!changes(&mut composer, A::Undo));
    assert_eq!(composer.history_mut().take_unsaved(), ["first prompt"]);
    assert_eq!(composer.history().get(1), Some("first prompt"));
}

#[test]
fn a_cleared_draft_stays_in_the_history_and_in_undo() {
    let mut composer = typed("a draft");
    composer.clear();
    assert!(composer.is_empty());
    assert_eq!(composer.history_mut().take_unsaved(), ["a draft"]);
    composer.apply(A::Undo);
    assert_eq!(composer.text(), "a draft");
}

#[test]
fn browsing_the_history_keeps_the_draft_and_edits() {
    let mut composer = empty();
    composer.history_mut().merge(History::new(vec![
        "oldest".into(),
        "two\nlines".into(),
        "newest".into(),
    ]));
    composer.paste(&"draft\n".repeat(20));
    let draft = composer.text();
    let walk = |composer: &mut Composer, command: A| {
        composer.apply(command);
        picture(composer)
    };
    assert_eq!(walk(&mut composer, A::Up), "newest│");
    assert_eq!(walk(&mut composer, A::Up), "two\nlines│");
    composer.insert('!');
    assert_eq!(picture(&composer), "two\nlines!│");
    assert_eq!(walk(&mut composer, A::Up), "two│\nlines!");
    assert_eq!(walk(&mut composer, A::Up), "oldest│");
    assert!(!changes(&mut composer, A::Up));
    assert_eq!(walk(&mut composer, A::Down), "two\nlines!│");
    assert_eq!(walk(&mut composer, A::Down), "newest│");
    composer.apply(A::Down);
    assert_eq!(composer.text(), draft);
    assert_eq!(composer.layout().rows[0][0].kind, SpanKind::Placeholder);
    assert!(!changes(&mut composer, A::Down));

    // At the draft again, the edited prompt is a new history entry and the old one is unchanged.
    // The same goes for an edited prompt that is sent.
    composer.apply(A::Up);
    composer.insert('?');
    assert_eq!(composer.take(), "two\nlines!?");
    let history = composer.history();
    let all = history
        .search("", &mut Narrowing::default())
        .into_iter()
        .filter_map(|age| history.get(age));
    let all: Vec<_> = all.collect();
    let expected = [
        "two\nlines!?",
        "two\nlines!",
        "newest",
        "two\nlines",
        "oldest",
    ];
    assert_eq!(all, expected);
    assert!(!changes(&mut composer, A::Down));
}

#[test]
fn the_history_may_load_late() {
    let mut composer = typed("mine");
    composer.take();
    composer.apply(A::Up);
    composer
        .history_mut()
        .merge(History::new(vec!["from the file".into()]));
    composer.apply(A::Up);
    assert_eq!(picture(&composer), "from the file│");
}

#[test]
fn returned_text_goes_before_the_draft() {
    let mut composer = empty();
    composer.prepend("queued");
    assert_eq!(picture(&composer), "queued│");
    composer.set("my draft");
    composer.apply(A::WordLeft);
    composer.prepend("one\n\ntwo");
    assert_eq!(composer.text(), "one\n\ntwo\n\nmy draft");
    composer.insert('|');
    assert_eq!(composer.text(), "one\n\ntwo\n\nmy |draft");
    composer.apply(A::Undo);
    composer.apply(A::Undo);
    assert_eq!(composer.text(), "my draft");
}

#[test]
fn a_backslash_before_enter_is_a_new_line() {
    let mut composer = typed("one\\");
    assert!(composer.break_at_backslash());
    assert_eq!(picture(&composer), "one\n│");
    assert!(!composer.break_at_backslash());
    assert_eq!(composer.text(), "one\n");
}

#[test]
fn control_characters_are_never_typed() {
    let composer = typed("a\x1b\x07\u{9b}b\rc");
    assert_eq!(composer.text(), "ab\nc");
}

/// Nothing in a huge draft is cut, with any line lengths and any caret position.
#[test]
fn a_huge_draft_works_like_any_other() {
    for line in [
        "some words ".repeat(12),
        "x".repeat(5000),
        "日本語".repeat(500),
    ] {
        let mut composer = Composer::new(80, 10);
        let text = format!("{line}\n").repeat(500);
        composer.set(&text);
        for place in [A::Up, A::LineStart, A::LineEnd] {
            composer.apply(place);
            let edits: [fn(&mut Composer); 5] = [
                |composer| composer.insert('a'),
                |composer| composer.apply(A::Left),
                |composer| composer.apply(A::Newline),
                |composer| composer.apply(A::DeleteBackward),
                |composer| composer.apply(A::DeleteForward),
            ];
            for edit in edits {
                edit(&mut composer);
                let layout = composer.layout();
                assert_eq!(layout.rows.len(), 10);
                for row in layout.rows {
                    assert!(row.iter().map(|s| s.text.width()).sum::<usize>() <= 80);
                }
            }
        }
        assert_eq!(composer.text(), text);
    }
}

fn history(entries: &[&str]) -> History {
    let mut history = History::default();
    for entry in entries {
        history.push(entry);
    }
    history
}

fn found<'a>(history: &'a History, query: &str) -> Vec<&'a str> {
    let ages = history.search(query, &mut Narrowing::default());
    ages.into_iter()
        .filter_map(|age| history.get(age))
        .collect()
}

fn all(history: &History) -> Vec<&str> {
    found(history, "")
}

#[test]
fn each_prompt_is_in_the_history_once_at_its_last_use() {
    let mut history = history(&["a", "b", "a", "a", " \n", ""]);
    assert_eq!(all(&history), ["a", "b"]);
    assert_eq!(history.take_unsaved(), ["a", "b", "a"]);
    assert_eq!(history.take_unsaved(), [""; 0]);
    assert_eq!(history.get(1), Some("a"));
    assert_eq!(history.get(2), Some("b"));
    assert_eq!(history.get(3), None);
    assert_eq!(history.get(0), None);
}

#[test]
fn prompts_from_the_file_are_older_than_typed_ones() {
    let mut history = history(&["new", "both"]);
    history.merge(History::new(
        ["x", "both", "y", "x"].map(String::from).into(),
    ));
    assert_eq!(all(&history), ["both", "new", "x", "y"]);
    assert_eq!(history.take_unsaved(), ["new", "both"]);
}

#[test]
fn the_newest_prompts_are_kept() {
    let mut history = History::default();
    history.merge(History::new(
        (0..10_000 + 5).map(|i| i.to_string()).collect(),
    ));
    assert_eq!(all(&history).len(), 10_000);
    assert_eq!(history.get(10_000), Some("5"));
    history.push("new");
    assert_eq!(all(&history).len(), 10_000);
    assert_eq!(history.get(1), Some("new"));
    assert_eq!(history.get(10_000), Some("6"));
}

#[test]
fn search_matches_every_word_in_any_case() {
    let history = history(&["Fix the login", "fix LOGIN again", "other", "ÄRGER"]);
    let found = |query| found(&history, query);
    assert_eq!(found("login fix"), ["fix LOGIN again", "Fix the login"]);
    assert_eq!(found("the"), ["other", "Fix the login"]);
    assert_eq!(found("ärger"), ["ÄRGER"]);
    assert_eq!(found("nothing"), [""; 0]);
}

/// Narrowing a search letter by letter finds the same as a new search.
#[test]
fn narrowing_a_search_finds_what_a_new_search_finds() {
    let prompts = [
        "Fix the login",
        "fix LOGIN again",
        "list files, login",
        "ΣΑΣ σα",
        "lo",
        "Grün",
    ];
    let mut history = history(&prompts);
    let mut narrowing = Narrowing::default();
    for query in [
        "l", "lo", "log", "log f", "log fi", "lo", "lfil", "σας", "σασ", "grun", "g", "", "l",
    ] {
        let on = history.search(query, &mut narrowing);
        assert_eq!(
            on,
            history.search(query, &mut Narrowing::default()),
            "{query}"
        );
    }
    history.push("login once more");
    assert_eq!(history.search("login", &mut narrowing)[0], 1);
}

#[test]
fn only_long_pastes_get_placeholders() {
    for (text, label) in [
        (String::new(), None),
        ("line\n".repeat(10), None),
        ("line\n".repeat(11), Some("[paste #1 +11 lines]")),
        ("x".repeat(1000), None),
        ("ä".repeat(1001), Some("[paste #1 1001 chars]")),
    ] {
        let mut composer = pasted(&text);
        composer.resize(80, 20);
        let first = composer.layout().rows[0].first().cloned();
        let placeholder = first.filter(|span| span.kind == SpanKind::Placeholder);
        assert_eq!(placeholder.map(|span| span.text).as_deref(), label);
        assert_eq!(composer.text(), text);
    }
    // Once all placeholders are in use, a paste is inserted as text in full.
    let long = "x\n".repeat(20);
    let mut composer = empty();
    for _ in 0..5000 {
        composer.paste(&long);
        assert_eq!(composer.text(), long);
        // The kill ring keeps the placeholder in use.
        composer.apply(A::CutToStart);
        composer.take();
    }
}

#[test]
fn text_is_cleaned_of_control_characters() {
    for (text, expected) in [
        ("a\r\nb\rc\nd\te", "a\nb\nc\nd\te"),
        ("\x1b[31mred\x07\0\x7f\u{9b}", "[31mred"),
        ("a\u{2028}b\u{85}c", "a\nb\nc"),
        ("a\u{e01f0}b\u{e0fff}c\u{10f000}", "abc\u{10f000}"),
    ] {
        assert_eq!(pasted(text).text(), expected);
    }
}

#[test]
fn rows_break_at_words_wide_characters_and_tab_stops() {
    for (line, width, expected) in [
        ("", 10, ""),
        ("one two three", 10, "one two |three"),
        ("one two three", 8, "one two |three"),
        ("one two three", 7, "one |two |three"),
        ("one  two", 4, "one | |two"),
        ("one  two", 6, "one  |two"),
        ("abcdefghij", 5, "abcd|efgh|ij"),
        ("a bcdefghij", 5, "a |bcde|fghi|j"),
        // After a full row the caret goes to the start of the next one.
        ("one two ", 8, "one two |"),
        ("one two", 8, "one two"),
        ("日本語テキスト", 7, "日本語|テキス|ト"),
        ("ab日本語", 6, "ab日|本語"),
        ("👨‍👩‍👧👨‍👩‍👧", 4, "👨‍👩‍👧|👨‍👩‍👧"),
        ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}|e\u{301}"),
        ("ab c", 1, "a|b| |c"),
        ("ab c", 2, "a|b |c"),
        // A character that would leave no room for the caret moves to the next row with it.
        ("日本", 1, "日|本|"),
        ("日本", 2, "日|本|"),
        ("日本", 3, "日|本"),
        ("ab", 0, "a|b"),
        // Tab stops count from the start of the row and are no wider than the row.
        ("a\tb\tc", 9, "a   b   |c"),
        ("abc\tx", 20, "abc x"),
        ("abcd\tx", 6, "abcd  |x"),
    ] {
        let mut composer = holding(line);
        composer.resize(width, 100);
        let rows = composer.layout().rows.into_iter();
        let rows = rows.map(|row| row.into_iter().map(|span| span.text).collect());
        let rows: Vec<String> = rows.collect();
        assert_eq!(rows.join("|"), expected, "{line:?} at {width}");
    }
}

#[test]
fn shift_motions_select_and_typing_replaces_the_selection() {
    // Starting at the end of "one two": motions that select, an action, and the remaining text.
    for (motions, then, expected) in [
        (&[A::WordLeft][..], A::DeleteBackward, "one "),
        (&[A::WordLeft, A::Left], A::DeleteForward, "one"),
        (&[A::LineStart], A::CutToStart, ""),
        (&[A::Up], A::Newline, "\n"),
        (&[A::WordLeft], A::WordLeft, "one two"),
        (&[A::Left, A::Right], A::DeleteBackward, "one tw"),
    ] {
        let mut composer = Composer::new(40, 5);
        composer.set("one two");
        for motion in motions {
            composer.select(*motion);
        }
        composer.apply(then);
        assert_eq!(composer.text(), expected, "{motions:?} {then:?}");
        assert_eq!(composer.selected_text(), None);
    }
    let mut composer = Composer::new(40, 5);
    composer.set("one two");
    composer.select(A::WordLeft);
    assert_eq!(composer.selected_text().as_deref(), Some("two"));
    assert_eq!(composer.layout().rows[0][1].kind, SpanKind::Selected);
    composer.insert('x');
    assert_eq!(composer.text(), "one x");
    composer.apply(A::Undo);
    assert_eq!(composer.text(), "one two");
    composer.click(0, 0);
    composer.select_to(3, 0);
    assert_eq!(composer.selected_text().as_deref(), Some("one"));
    composer.apply(A::Right);
    composer.insert('!');
    assert_eq!(composer.text(), "one! two");
    // A change from elsewhere ends the selection.
    composer.select(A::LineStart);
    composer.prepend("back");
    assert_eq!(composer.selected_text(), None);
}
