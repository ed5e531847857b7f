//! Wraps lines into rows: greedy, by words or by characters, by bytes for ASCII and by graphemes
//! otherwise. Breaks drop only white space.

use std::ops::Range;

use ratatui_core::style::Style;

use super::row::{Line, Row};
use super::width::{fit, graphemes, is_plain, width};

/// Where a line may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Between words; anywhere in words longer than a row.
    Words,
    /// Anywhere, keeping all spaces: for output.
    Anywhere,
    /// After a space near the end of the row, or else anywhere, keeping all spaces: for code.
    Code,
}

/// The prefixes of a line's rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prefix {
    /// On the first row.
    pub first: Line,
    /// On the other rows.
    pub rest: Line,
}

impl Prefix {
    /// For code: `line` on the first row. The others have a continuation mark in its last two
    /// columns and the indentation of `code`, so they don't look like new lines.
    pub fn hanging(line: Line, code: &str, mark: Style, columns: usize) -> Self {
        let before = line
            .text
            .trim_end_matches(' ')
            .len()
            .max(line.text.len().saturating_sub(2));
        let indent = code.len() - code.trim_start_matches(' ').len();
        let indent = indent.min(columns / 4);
        let mut rest = Line::default();
        rest.push_part(&line, 0..before);
        rest.push("↪ ", mark);
        rest.push(&" ".repeat(indent), mark);
        Self { first: line, rest }
    }

    /// The same prefix on every row.
    pub fn both(line: Line) -> Self {
        Self {
            first: line.clone(),
            rest: line,
        }
    }
}

/// Wraps `line` to `columns`, prefixes included, and appends at least one row.
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

/// On very narrow screens, text is more important than prefixes.
pub fn prefix_width(prefix: &Line, columns: usize) -> usize {
    width(&prefix.text).min(columns / 2)
}

/// The bytes of `text` on the next row of `columns`, and the start of the row after it. The second
/// is 0 only if `text` is empty.
fn next_row(text: &str, columns: usize, mode: Break) -> (usize, usize) {
    // Look only at as much as matters, or a long line would be scanned for each of its rows.
    // Zero-width characters take no columns, hence the fallback below.
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
    if mode == Break::Code {
        let near = columns * 2 / 5;
        let space = bytes[near..columns].iter().rposition(|&byte| byte == b' ');
        let end = space.map_or(columns, |space| near + space + 1);
        return (end, end);
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
    // The last break between words: end of the row, start of the next.
    let mut last_break = None;
    let mut last_space = None;
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
            if let (Break::Code, Some(end)) = (mode, last_space) {
                return (end, end);
            }
            // A grapheme wider than the row is alone on it and gets clipped.
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
        if is_space && used > columns * 2 / 5 {
            last_space = Some(at);
        }
    }
    (text.len(), text.len())
}

fn trim_break(text: &str, end: usize, next: usize) -> (usize, usize) {
    let kept = text[..end].trim_end_matches(' ').len();
    let skipped = text[next..].len() - text[next..].trim_start_matches(' ').len();
    (kept, next + skipped)
}
