//! Measuring, truncating and wrapping text for the screen.

use proptest::prelude::*;
use ratatui_core::style::Style;
use tiller::app::tui::text::width::{ellipsis, ellipsis_middle, fit};
use tiller::app::tui::text::{Break, Line, Prefix, width, wrap};

#[test]
fn truncating_a_path_keeps_its_end() {
    let cases = [
        ("src/lib.rs", 10, "src/lib.rs"),
        ("src/agent/tools/bash.rs", 16, "src/a…ls/bash.rs"),
        ("日本語/日本語/main.rs", 12, "日…/main.rs"),
        ("abcdefghij", 4, "abc…"),
        ("abc", 0, ""),
    ];
    for (text, columns, expected) in cases {
        assert_eq!(ellipsis_middle(text, columns), expected, "{text} {columns}");
        assert!(width(expected) <= columns, "{text}");
    }
}

#[test]
fn characters_have_their_display_width() {
    let cases = [
        ("", 0),
        ("abc", 3),
        ("äöü", 3),
        ("日本", 4),
        ("e\u{301}", 1),
        ("👩\u{200d}👩\u{200d}👧", 2),
        ("🇩🇪", 2),
        ("a\u{200b}b", 2),
    ];
    for (text, expected) in cases {
        assert_eq!(width(text), expected, "{text:?}");
    }
}

#[test]
fn fitting_never_splits_a_grapheme() {
    assert_eq!(fit("日本語", 3), ("日", 2));
    assert_eq!(fit("e\u{301}x", 1), ("e\u{301}", 1));
    assert_eq!(fit("abc", 0), ("", 0));
    assert_eq!(ellipsis("日本語", 5), "日本…");
    assert_eq!(ellipsis("abc", 3), "abc");
    assert_eq!(ellipsis("abcd", 1), "…");
}

fn rows(text: &str, columns: usize, mode: Break) -> Vec<String> {
    let mut rows = Vec::new();
    let line = Line::of(text, Style::new());
    wrap(&line, &Prefix::default(), columns, mode, &mut rows);
    rows.into_iter().map(|row| row.text.into_string()).collect()
}

#[test]
fn lines_wrap_in_each_mode() {
    let cases: &[(&str, usize, Break, &[&str])] = &[
        ("", 5, Break::Words, &[""]),
        ("one two three", 7, Break::Words, &["one two", "three"]),
        ("one two three", 8, Break::Words, &["one two", "three"]),
        ("abcdefghij", 4, Break::Words, &["abcd", "efgh", "ij"]),
        (
            "a abcdefghij",
            4,
            Break::Words,
            &["a", "abcd", "efgh", "ij"],
        ),
        ("one   two", 4, Break::Words, &["one", "two"]),
        ("  indented text", 10, Break::Words, &["  indented", "text"]),
        (
            "日本語テキスト",
            6,
            Break::Words,
            &["日本語", "テキス", "ト"],
        ),
        ("日本語", 5, Break::Words, &["日本", "語"]),
        ("ab cd", 2, Break::Anywhere, &["ab", " c", "d"]),
        ("größe über", 5, Break::Words, &["größe", "über"]),
        ("ok 日本", 4, Break::Words, &["ok", "日本"]),
        ("trailing ", 8, Break::Words, &["trailing"]),
    ];
    for (text, columns, mode, expected) in cases {
        assert_eq!(
            rows(text, *columns, *mode),
            *expected,
            "{text:?} at {columns}"
        );
    }
}

#[test]
fn wrapped_rows_have_a_hanging_prefix() {
    let mut out = Vec::new();
    let prefix = Prefix {
        first: Line::of("• ", Style::new()),
        rest: Line::of("  ", Style::new()),
    };
    wrap(
        &Line::of("one two", Style::new()),
        &prefix,
        6,
        Break::Words,
        &mut out,
    );
    let text: Vec<_> = out.iter().map(|row| &*row.text).collect();
    assert_eq!(text, ["• one", "  two"]);
}

/// Copying needs to know which part of a row is source text, and where lines really end.
#[test]
fn rows_know_their_source() {
    let mut line = Line::from_source("one two", Style::new(), 10..17);
    line.push(" (note)", Style::new());
    line.push_source("    x", Style::new(), 17..19);
    let mut rows = Vec::new();
    let prefix = Prefix::both(Line::of("> ", Style::new()));
    wrap(&line, &prefix, 9, Break::Words, &mut rows);
    let seen: Vec<_> = rows
        .iter()
        .map(|row| {
            let content = row.content.start as usize..row.content.end as usize;
            (&row.text[content], row.source.clone(), row.soft_wrap)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("one two", 10..17, true),
            ("", 17..17, true),
            ("x", 17..19, false)
        ]
    );
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| *c != ' ').collect()
}

proptest! {
    #[test]
    fn wrapped_rows_fit_and_lose_no_text(
        text in "([a-z ]{0,30}|[äöü日本語👩\u{200d}👧\u{301} a]{0,20}){0,4}",
        columns in 4_usize..40,
    ) {
        for mode in [Break::Words, Break::Anywhere, Break::Code] {
            let rows = rows(&text, columns, mode);
            for row in &rows {
                prop_assert!(width(row) <= columns, "{row:?} at {columns}");
            }
            if mode == Break::Words {
                prop_assert_eq!(squeezed(&rows.concat()), squeezed(&text));
            } else {
                prop_assert_eq!(rows.concat(), text.clone());
            }
        }
    }
}
