//! Compares the composer with the plain model in [`super::composer_reference`], and checks
//! invariants after random edits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use tiller::app::action::Action as A;
use tiller::app::tui::composer::{Composer, SpanKind};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::composer::changes;
use super::composer_reference::{Edit, Model, any_command, modelled, text, wild};

/// So large that nothing wraps or scrolls, so each row is a line.
const UNBOUNDED: (u16, u16) = (60_000, 60_000);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn edits_and_motions_match_the_model(commands in prop::collection::vec(modelled(), 1..60)) {
        agrees(&commands)?;
    }

    #[test]
    fn undo_reverts_everything_and_redo_restores_it(
        commands in prop::collection::vec(any_command(), 1..60),
    ) {
        let mut composer = Composer::new(80, 10);
        composer.set("start 日本");
        for command in commands {
            command.apply(&mut composer);
        }
        let end = composer.text();
        let mut steps = 0;
        while changes(&mut composer, A::Undo) {
            let here = composer.text();
            let mut other = composer.clone();
            prop_assert!(changes(&mut other, A::Redo));
            prop_assert!(changes(&mut other, A::Undo));
            prop_assert_eq!(other.text(), here);
            steps += 1;
        }
        prop_assert_eq!(composer.text(), "");
        while changes(&mut composer, A::Redo) {
            steps -= 1;
        }
        prop_assert_eq!(steps, 0);
        prop_assert_eq!(composer.text(), end);
    }

    #[test]
    fn an_incremental_layout_matches_a_fresh_one(
        commands in prop::collection::vec(any_command(), 1..50),
        width in 1_u16..30,
        max_rows in 1_u16..12,
    ) {
        let mut composer = Composer::new(width, max_rows);
        for command in commands {
            command.apply(&mut composer);
            check_layout(&composer, width, max_rows)?;
            // A fresh layout gives the same rows.
            let mut edited = composer.clone();
            edited.resize(width, 60_000);
            let mut fresh = composer.clone();
            fresh.resize(width + 1, 60_000);
            fresh.resize(width, 60_000);
            prop_assert_eq!(edited.layout(), fresh.layout(), "after {:?}", command);
        }
    }

    #[test]
    fn the_caret_is_always_between_graphemes(commands in prop::collection::vec(any_command(), 1..60)) {
        let mut composer = Composer::new(80, 10);
        for command in commands {
            command.apply(&mut composer);
            let text = composer.text();
            let mut marked = composer.clone();
            marked.insert('│');
            let marked = marked.text();
            let caret = marked.find('│').unwrap();
            let boundary = text.grapheme_indices(true).any(|(at, _)| at == caret);
            prop_assert!(boundary || caret == text.len(), "{:?} at {} after {:?}", text, caret, command);
        }
    }

    #[test]
    fn a_click_reaches_any_place_on_the_screen(text in text(wild()), width in 2_u16..20) {
        let mut composer = Composer::new(width, 60_000);
        composer.set(&text);
        let layout = composer.layout();
        for row in 0..layout.rows.len() as u16 {
            for col in 0..width {
                composer.click(col, row);
                let (x, y) = composer.layout().cursor;
                prop_assert_eq!(y, row);
                prop_assert!(x <= col);
                composer.click(x, y);
                prop_assert_eq!(composer.layout().cursor, (x, y));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "runs PROPTEST_CASES cases; 10,000 take a minute"]
    fn many_edits_and_motions_match_the_model(commands in prop::collection::vec(modelled(), 1..40)) {
        agrees(&commands)?;
    }
}

/// Runs the commands in both editors and compares them after each.
fn agrees(commands: &[Edit]) -> Result<(), TestCaseError> {
    let mut composer = Composer::new(UNBOUNDED.0, UNBOUNDED.1);
    let mut model = Model::default();
    for (number, command) in commands.iter().enumerate() {
        command.apply(&mut composer);
        model.apply(command);
        prop_assert_eq!(
            composer.text(),
            model.text(),
            "after {} {:?}",
            number,
            command
        );
        let cursor = composer.layout().cursor;
        prop_assert_eq!(cursor, model.cursor(), "after {} {:?}", number, command);
        prop_assert_eq!(
            composer.selected_text(),
            model.selected_text(),
            "after {} {:?}",
            number,
            command
        );
        prop_assert_eq!(composer.is_empty(), model.is_empty());
    }
    Ok(())
}

fn check_layout(composer: &Composer, width: u16, max_rows: u16) -> Result<(), TestCaseError> {
    let layout = composer.layout();
    let (col, row) = layout.cursor;
    prop_assert!(col < width, "{:?}", layout);
    prop_assert!(usize::from(row) < layout.rows.len(), "{:?}", layout);
    prop_assert_eq!(
        layout.rows.len(),
        layout.total_rows.min(max_rows.into()),
        "{:?}",
        layout
    );
    prop_assert!(
        layout.first_row + layout.rows.len() <= layout.total_rows,
        "{:?}",
        layout
    );
    for row in &layout.rows {
        let text: String = row.iter().map(|span| span.text.as_str()).collect();
        let too_wide = text
            .graphemes(true)
            .map(UnicodeWidthStr::width)
            .sum::<usize>()
            > width.into();
        let one = text
            .graphemes(true)
            .filter(|grapheme| grapheme.width() > 0)
            .count()
            == 1;
        prop_assert!(!too_wide || one, "{:?}", text);
        prop_assert!(!text.contains(char::is_control), "{:?}", text);
    }
    Ok(())
}

#[test]
fn a_placeholder_is_one_unit() {
    let long = "line\n".repeat(200);
    let mut composer = Composer::new(80, 10);
    composer.set("ab");
    composer.apply(A::Left);
    composer.paste(&long);
    let layout = composer.layout();
    let spans: Vec<_> = layout.rows[0]
        .iter()
        .map(|s| (s.kind, s.text.as_str()))
        .collect();
    assert_eq!(
        spans,
        [
            (SpanKind::Text, "a"),
            (SpanKind::Placeholder, "[paste #1 +200 lines]"),
            (SpanKind::Text, "b"),
        ]
    );
    assert_eq!(layout.cursor, (22, 0));
    assert_eq!(composer.text(), format!("a{long}b"));
    composer.apply(A::Left);
    assert_eq!(composer.layout().cursor, (1, 0));
    composer.apply(A::WordRight);
    assert_eq!(composer.layout().cursor, (22, 0));
    composer.apply(A::DeleteBackward);
    assert_eq!(composer.text(), "ab");
    composer.apply(A::Undo);
    assert_eq!(composer.text(), format!("a{long}b"));
    composer.apply(A::Undo);
    assert_eq!(composer.text(), "ab");
    composer.apply(A::Redo);
    composer.apply(A::CutToStart);
    composer.apply(A::Yank);
    composer.apply(A::Yank);
    assert_eq!(composer.text(), format!("a{long}a{long}b"));
}
