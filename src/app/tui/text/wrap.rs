//! Breaks lines into rows. Greedy, by words or by characters; ASCII goes by bytes, everything else
//! by graphemes. What is cut at a break is white space only.

use std::ops::Range;

use super::row::{Line, Row};
use super::width::{fit, graphemes, is_plain, width};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Between words; words longer than a row anywhere.
    Words,
    /// Anywhere, without losing a space: code and output.
    Anywhere,
}

/// What stands before the rows of a line: on the first, and on those that follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prefix {
    pub first: Line,
    pub rest: Line,
}

impl Prefix {
    /// The same before every row.
    pub fn both(line: Line) -> Self {
        Self {
            first: line.clone(),
            rest: line,
        }
    }
}

/// Wraps `line` to `columns`, prefixes included, and appends the rows. At least one row comes out.
pub fn wrap(line: &Line, prefix: &Prefix, columns: usize, mode: Break, rows: &mut Vec<Row>) {
    let room = |prefix: &Line| columns.saturating_sub(prefix_width(prefix, columns)).max(2);
    let mut start = 0;
    let mut first = true;
    loop {
        let before = if first { &prefix.first } else { &prefix.rest };
        let (end, next) = next_row(&line.text[start..], room(before), mode);
        let mut row = make_row(line, before, columns, start..start + end);
        start += next;
        first = false;
        row.soft_wrap = start < line.text.len();
        rows.push(row);
        if start >= line.text.len() {
            break;
        }
    }
}

fn make_row(line: &Line, before: &Line, columns: usize, range: Range<usize>) -> Row {
    let mut out = Line::default();
    let (kept, _) = fit(&before.text, prefix_width(before, columns));
    out.push_part(before, 0..kept.len());
    out.push_part(line, range);
    out.into_row()
}

/// On very narrow screens prefixes give way to text.
pub fn prefix_width(prefix: &Line, columns: usize) -> usize {
    width(&prefix.text).min(columns / 2)
}

/// How many bytes of `text` stand on the next row of `columns`, and where the one after begins.
/// The second is never 0 unless `text` is empty.
fn next_row(text: &str, columns: usize, mode: Break) -> (usize, usize) {
    // Only what can matter is looked at, or a long line would be scanned again for each of its rows.
    // Zero-width characters do not count towards the columns, hence the way out below.
    let mut window = text.len().min(columns * 4 + 64);
    while !text.is_char_boundary(window) {
        window += 1;
    }
    if is_plain(&text[..window]) {
        return next_plain(text, columns, mode);
    }
    next_wide(text, columns, mode)
}

fn next_plain(text: &str, columns: usize, mode: Break) -> (usize, usize) {
    if text.len() <= columns {
        return (text.len(), text.len());
    }
    let bytes = text.as_bytes();
    if mode == Break::Anywhere {
        return (columns, columns);
    }
    let cut = match bytes[..=columns].iter().rposition(|&byte| byte == b' ') {
        Some(space) if bytes[..space].iter().any(|&byte| byte != b' ') => space,
        _ => return (columns, columns),
    };
    trim_break(text, cut, cut)
}

fn next_wide(text: &str, columns: usize, mode: Break) -> (usize, usize) {
    let mut used = 0;
    let mut at = 0;
    // The last place between words: end of the row, start of the next.
    let mut last_break = None;
    let mut seen_word = false;
    let mut was_wide = false;
    for (grapheme, width) in graphemes(text) {
        let is_space = grapheme == " ";
        let is_wide = width > 1;
        if seen_word && !is_space && (is_wide || was_wide) {
            last_break = Some(at);
        }
        if used + width > columns {
            if mode == Break::Words {
                if is_space && seen_word {
                    return trim_break(text, at, at);
                }
                if let Some(cut) = last_break {
                    return trim_break(text, cut, cut);
                }
            }
            // A grapheme wider than the row stands alone and is clipped.
            let end = if at == 0 { grapheme.len() } else { at };
            return (end, end);
        }
        if is_space && seen_word {
            last_break = Some(at);
        }
        seen_word |= !is_space;
        was_wide = is_wide;
        used += width;
        at += grapheme.len();
    }
    (text.len(), text.len())
}

/// Drops the spaces around a break.
fn trim_break(text: &str, end: usize, next: usize) -> (usize, usize) {
    let kept = text[..end].trim_end_matches(' ').len();
    let skipped = text[next..].len() - text[next..].trim_start_matches(' ').len();
    (kept, next + skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Style;

    use super::*;

    fn rows(text: &str, columns: usize, mode: Break) -> Vec<String> {
        let mut rows = Vec::new();
        let line = Line::of(text, Style::new());
        wrap(&line, &Prefix::default(), columns, mode, &mut rows);
        rows.into_iter().map(|row| row.text.into_string()).collect()
    }

    #[test]
    fn breaks() {
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
    fn prefixes_hang() {
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

    /// Copying needs to know what of a row is the source's own, and where lines really end.
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
                ("x", 19..19, false)
            ]
        );
    }

    fn squeezed(text: &str) -> String {
        text.chars().filter(|c| *c != ' ').collect()
    }

    proptest! {
        #[test]
        fn nothing_is_too_wide_and_nothing_is_lost(
            text in "([a-z ]{0,30}|[äöü日本語👩\u{200d}👧\u{301} a]{0,20}){0,4}",
            columns in 2_usize..40,
        ) {
            for mode in [Break::Words, Break::Anywhere] {
                let rows = rows(&text, columns, mode);
                for row in &rows {
                    prop_assert!(width(row) <= columns, "{row:?} at {columns}");
                }
                if mode == Break::Anywhere {
                    prop_assert_eq!(rows.concat(), text.clone());
                } else {
                    prop_assert_eq!(squeezed(&rows.concat()), squeezed(&text));
                }
            }
        }
    }
}
