//! The composer as a user meets it: keys in, rows and caret out.

use tiller::app::tui::composer::{Composer, EditCommand as E, SpanKind};
use unicode_width::UnicodeWidthStr;

/// A composer of 20 columns and 4 rows after these commands.
fn after(commands: impl IntoIterator<Item = E>) -> Composer {
    let mut composer = Composer::new();
    composer.resize(20, 4);
    for command in commands {
        composer.apply(command);
    }
    composer
}

fn typed(text: &str) -> impl Iterator<Item = E> {
    text.chars().map(E::Insert)
}

/// Moves the caret to the start of the text of a composer without history.
fn to_start(composer: &mut Composer) {
    while composer.apply(E::Up) {}
    composer.apply(E::LineStart);
}

/// The visible rows, with `│` at the caret.
fn picture(composer: &Composer) -> String {
    let layout = composer.layout();
    let mut rows: Vec<String> = layout
        .rows
        .iter()
        .map(|row| row.spans.iter().map(|span| span.text.as_str()).collect())
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
    let mut composer = after(typed("the quick brown fox jumps over the lazy dog"));
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
    composer.apply(E::Down);
    composer.apply(E::Down);
    assert_eq!(picture(&composer), "brown fox \n│jumps over ");
    composer.resize(40, 10);
    assert_eq!(
        picture(&composer),
        "the quick brown fox │jumps over the lazy \ndog"
    );
}

#[test]
fn an_empty_editor_has_one_row() {
    let composer = after([]);
    assert_eq!(picture(&composer), "│");
    assert!(composer.is_empty());
    assert_eq!(composer.layout().total_rows, 1);
}

#[test]
fn up_and_down_keep_to_their_column() {
    let mut composer = after([E::Set("a long line\nx\n\tanother one".into())]);
    to_start(&mut composer);
    for _ in 0..6 {
        composer.apply(E::Right);
    }
    assert_eq!(picture(&composer), "a long│ line\nx\n    another one");
    composer.apply(E::Down);
    assert_eq!(picture(&composer), "a long line\nx│\n    another one");
    composer.apply(E::Down);
    assert_eq!(picture(&composer), "a long line\nx\n    an│other one");
    composer.apply(E::Up);
    composer.apply(E::Up);
    assert_eq!(picture(&composer), "a long│ line\nx\n    another one");
    composer.apply(E::Down);
    composer.apply(E::LineEnd);
    composer.apply(E::Down);
    assert_eq!(picture(&composer), "a long line\nx\n│    another one");
}

#[test]
fn undo_goes_word_by_word_and_a_move_ends_a_step() {
    let mut composer = after(typed("one two three"));
    let mut seen = Vec::new();
    while composer.apply(E::Undo) {
        seen.push(composer.text());
    }
    assert_eq!(seen, ["one two ", "one ", ""]);
    while composer.apply(E::Redo) {}
    assert_eq!(composer.text(), "one two three");

    let mut composer = after(typed("ab"));
    composer.apply(E::Left);
    composer.apply(E::Insert('c'));
    composer.apply(E::Undo);
    assert_eq!(picture(&composer), "a│b");
    composer.apply(E::Insert('d'));
    assert!(!composer.apply(E::Redo));
    assert_eq!(composer.text(), "adb");
}

#[test]
fn deleting_in_a_row_is_one_step_of_undo() {
    let mut composer = after(typed("word"));
    for _ in 0..3 {
        composer.apply(E::Backspace);
    }
    composer.apply(E::Undo);
    assert_eq!(picture(&composer), "word│");
    to_start(&mut composer);
    composer.apply(E::Delete);
    composer.apply(E::Delete);
    composer.apply(E::Undo);
    assert_eq!(picture(&composer), "│word");
}

#[test]
fn kills_in_a_row_are_yanked_together_and_older_ones_after_them() {
    let mut composer = after(typed("one two three"));
    composer.apply(E::KillWordLeft);
    composer.apply(E::Left);
    composer.apply(E::Right);
    composer.apply(E::KillWordLeft);
    composer.apply(E::KillWordLeft);
    assert_eq!(picture(&composer), "│");
    composer.apply(E::Yank);
    assert_eq!(picture(&composer), "one two │");
    composer.apply(E::YankPop);
    assert_eq!(picture(&composer), "three│");
    composer.apply(E::YankPop);
    assert_eq!(picture(&composer), "one two │");
    composer.apply(E::Left);
    assert!(!composer.apply(E::YankPop));
}

#[test]
fn line_kills_join_lines_at_their_ends() {
    let mut composer = after([E::Set("one\ntwo\nthree".into())]);
    composer.apply(E::KillToLineStart);
    composer.apply(E::KillToLineStart);
    assert_eq!(picture(&composer), "one\ntwo│");
    to_start(&mut composer);
    composer.apply(E::KillToLineEnd);
    composer.apply(E::KillToLineEnd);
    assert_eq!(picture(&composer), "│two");
    composer.apply(E::Yank);
    assert_eq!(composer.text(), "one\ntwo");
}

#[test]
fn a_paste_is_cleaned_and_long_ones_are_placeholders_sent_in_full() {
    let mut composer = after([E::Paste("two\r\nlines\x1b[31m\x07\tand\rmore".into())]);
    assert_eq!(composer.text(), "two\nlines[31m\tand\nmore");
    composer.apply(E::Clear);
    composer.apply(E::Paste("x\r\n".repeat(200)));
    composer.apply(E::Paste("y".repeat(1234)));
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
    assert_eq!(layout.rows[0].spans[0].text, "[paste #…");
    assert_eq!(layout.rows[0].spans[0].kind, SpanKind::Placeholder);
    assert_eq!(composer.take(), "x\n".repeat(200) + &"y".repeat(1234));
    assert!(composer.is_empty());
}

#[test]
fn text_that_looks_like_a_placeholder_is_text() {
    let mut composer = after([E::Paste("long\n".repeat(20))]);
    for command in typed(" [paste #1 +20 lines]") {
        composer.apply(command);
    }
    assert_eq!(
        composer.text(),
        "long\n".repeat(20) + " [paste #1 +20 lines]"
    );
    composer.apply(E::Backspace);
    assert_eq!(
        composer.text(),
        "long\n".repeat(20) + " [paste #1 +20 lines"
    );
}

#[test]
fn a_killed_paste_outlives_the_prompt() {
    let long = "long\n".repeat(20);
    let mut composer = after([E::Paste(long.clone()), E::KillToLineStart]);
    assert_eq!(composer.take(), "");
    composer.apply(E::Paste("other\n".repeat(30)));
    composer.apply(E::Yank);
    assert_eq!(composer.text(), "other\n".repeat(30) + &long);
}

#[test]
fn what_was_sent_is_remembered_and_cannot_be_undone() {
    let mut composer = after(typed("first prompt"));
    assert_eq!(composer.take(), "first prompt");
    assert!(composer.is_empty());
    assert!(!composer.apply(E::Undo));
    assert_eq!(composer.history_mut().take_unsaved(), ["first prompt"]);
    assert_eq!(composer.history().get(1), Some("first prompt"));
}

#[test]
fn a_cleared_draft_is_kept_in_the_history_and_in_undo() {
    let mut composer = after(typed("a draft"));
    composer.apply(E::Clear);
    assert!(composer.is_empty());
    assert_eq!(composer.history_mut().take_unsaved(), ["a draft"]);
    composer.apply(E::Undo);
    assert_eq!(composer.text(), "a draft");
    assert!(!after([]).apply(E::Clear));
}

#[test]
fn browsing_keeps_the_draft_and_what_was_changed_on_the_way() {
    let mut composer = after([]);
    composer
        .history_mut()
        .merge(vec!["oldest".into(), "two\nlines".into(), "newest".into()]);
    composer.apply(E::Paste("draft\n".repeat(20)));
    let draft = composer.text();
    let walk = |composer: &mut Composer, command: E| {
        composer.apply(command);
        picture(composer)
    };
    assert_eq!(walk(&mut composer, E::Up), "newest│");
    assert_eq!(walk(&mut composer, E::Up), "two\nlines│");
    assert_eq!(walk(&mut composer, E::Insert('!')), "two\nlines!│");
    assert_eq!(walk(&mut composer, E::Up), "two│\nlines!");
    assert_eq!(walk(&mut composer, E::Up), "oldest│");
    assert!(!composer.apply(E::Up));
    assert_eq!(walk(&mut composer, E::Down), "two\nlines!│");
    assert_eq!(walk(&mut composer, E::Down), "newest│");
    composer.apply(E::Down);
    assert_eq!(composer.text(), draft);
    assert_eq!(
        composer.layout().rows[0].spans[0].kind,
        SpanKind::Placeholder
    );
    assert!(!composer.apply(E::Down));

    // Sending ends the walk; the changed prompt is a new one, the old one is as it was.
    composer.apply(E::Up);
    composer.apply(E::Up);
    composer.apply(E::Insert('?'));
    assert_eq!(composer.take(), "two\nlines?");
    let history = composer.history();
    let all = history.search("").filter_map(|age| history.get(age));
    let all: Vec<_> = all.collect();
    assert_eq!(all, ["two\nlines?", "newest", "two\nlines", "oldest"]);
    assert!(!composer.apply(E::Down));
}

#[test]
fn the_history_may_come_late() {
    let mut composer = after(typed("mine"));
    composer.take();
    composer.apply(E::Up);
    composer.history_mut().merge(vec!["from the file".into()]);
    composer.apply(E::Up);
    assert_eq!(picture(&composer), "from the file│");
}

#[test]
fn what_comes_back_stands_before_the_draft() {
    let mut composer = after([]);
    composer.prepend("queued");
    assert_eq!(picture(&composer), "queued│");
    composer.apply(E::Set("my draft".into()));
    composer.apply(E::WordLeft);
    composer.prepend("one\n\ntwo");
    assert_eq!(composer.text(), "one\n\ntwo\n\nmy draft");
    composer.apply(E::Insert('|'));
    assert_eq!(composer.text(), "one\n\ntwo\n\nmy |draft");
    composer.apply(E::Undo);
    composer.apply(E::Undo);
    assert_eq!(composer.text(), "my draft");
}

#[test]
fn a_backslash_before_enter_is_a_new_line() {
    let mut composer = after(typed("one\\"));
    assert!(composer.break_at_backslash());
    assert_eq!(picture(&composer), "one\n│");
    assert!(!composer.break_at_backslash());
    assert_eq!(composer.text(), "one\n");
}

#[test]
fn control_characters_are_never_typed() {
    let composer = after(typed("a\x1b\x07\u{9b}b\rc"));
    assert_eq!(composer.text(), "ab\nc");
}

/// Nothing in a huge draft is cut, whatever its lines are like and wherever the caret is.
#[test]
fn a_huge_draft_is_edited_and_shown_like_any_other() {
    for line in [
        "some words ".repeat(12),
        "x".repeat(5000),
        "日本語".repeat(500),
    ] {
        let mut composer = Composer::new();
        composer.resize(80, 10);
        let text = format!("{line}\n").repeat(500);
        composer.apply(E::Set(text.clone()));
        for place in [E::Up, E::LineStart, E::LineEnd] {
            composer.apply(place);
            for command in [E::Insert('a'), E::Left, E::NewLine, E::Backspace, E::Delete] {
                composer.apply(command);
                let layout = composer.layout();
                assert_eq!(layout.rows.len(), 10);
                for row in layout.rows {
                    assert!(row.spans.iter().map(|s| s.text.width()).sum::<usize>() <= 80);
                }
            }
        }
        assert_eq!(composer.text(), text);
    }
}
