//! Diffs in their display form to rows: numbers, signs, tint, and within changed lines the words
//! that differ.

use ratatui::style::Style;
use similar::{ChangeTag, TextDiff};

use super::code::CodeStore;
use super::markdown::Sheet;
use super::row::{CodeRef, Line, Row};
use super::sanitize::visible_line;
use super::width::width;
use super::wrap::{Break, Prefix, wrap};

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Only in the new text.
    Added,
    /// Only in the old text.
    Removed,
    /// In both.
    Context,
    /// Lines are left out here.
    Skipped,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffLine {
    /// What it is.
    pub sign: Sign,
    /// Its number, as written.
    pub number: String,
    /// The text, free of control characters.
    pub text: String,
    /// Byte ranges that differ from the line it replaces or is replaced by.
    pub changed: Vec<(usize, usize)>,
}

/// Pairs of lines longer than this are not compared word by word.
const LONGEST_PAIR: usize = 1_000;

/// Lines less alike than this are a new text, not a changed one.
const LEAST_ALIKE: f32 = 0.35;

/// Reads the display form (see `DiffDetails::diff`).
pub fn read(diff: &str) -> Vec<DiffLine> {
    let mut lines: Vec<_> = diff.lines().map(read_line).collect();
    mark_words(&mut lines);
    lines
}

fn read_line(line: &str) -> DiffLine {
    let sign = match line.as_bytes().first() {
        Some(b'+') => Sign::Added,
        Some(b'-') => Sign::Removed,
        _ => Sign::Context,
    };
    let body = line.get(1..).unwrap_or_default();
    let rest = body.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (sign, number, text) =
        if digits > 0 && matches!(rest.as_bytes().get(digits), None | Some(b' ')) {
            (
                sign,
                &rest[..digits],
                rest.get(digits + 1..).unwrap_or_default(),
            )
        } else if let Some(text) = body.strip_prefix("~ ") {
            (sign, "", text)
        } else if sign == Sign::Context && rest == "..." {
            (Sign::Skipped, "", "")
        } else {
            (sign, "", body)
        };
    DiffLine {
        sign,
        number: number.to_owned(),
        text: visible_line(text).into_owned(),
        changed: Vec::new(),
    }
}

/// Compares each run of removed lines with the run of added lines behind it, line by line.
fn mark_words(lines: &mut [DiffLine]) {
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, sign: Sign| {
            lines[from..]
                .iter()
                .take_while(|line| line.sign == sign)
                .count()
        };
        let removed = run(at, Sign::Removed);
        let added = run(at + removed, Sign::Added);
        for index in 0..removed.min(added) {
            let (head, tail) = lines.split_at_mut(at + removed);
            mark_pair(&mut head[at + index], &mut tail[index]);
        }
        at += (removed + added).max(1);
    }
}

fn mark_pair(old: &mut DiffLine, new: &mut DiffLine) {
    if old.text.len().max(new.text.len()) > LONGEST_PAIR {
        return;
    }
    let diff = TextDiff::from_unicode_words(&old.text, &new.text);
    if diff.ratio() < LEAST_ALIKE {
        return;
    }
    let (mut in_old, mut in_new) = (0, 0);
    let (mut old_ranges, mut new_ranges) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                in_old += len;
                in_new += len;
            }
            ChangeTag::Delete => {
                push_range(&mut old_ranges, in_old, in_old + len);
                in_old += len;
            }
            ChangeTag::Insert => {
                push_range(&mut new_ranges, in_new, in_new + len);
                in_new += len;
            }
        }
    }
    old.changed = old_ranges;
    new.changed = new_ranges;
}

fn push_range(ranges: &mut Vec<(usize, usize)>, start: usize, end: usize) {
    match ranges.last_mut() {
        Some(last) if last.1 == start => last.1 = end,
        _ => ranges.push((start, end)),
    }
}

/// Where a diff's lines go, and what colours them.
#[derive(Clone, Copy, Debug)]
pub struct DiffPlace<'a> {
    /// Language of the file, by its extension.
    pub language: &'a str,
    /// Number of the diff within the cell, as a block of code.
    pub block: u32,
}

/// Writes `lines`. Long lines hang behind the gutter.
pub fn write(
    sheet: &Sheet<'_>,
    lines: &[DiffLine],
    place: DiffPlace<'_>,
    store: &mut CodeStore,
    rows: &mut Vec<Row>,
) {
    let numbers = lines
        .iter()
        .map(|line| line.number.len())
        .max()
        .unwrap_or(0);
    for (index, line) in lines.iter().enumerate() {
        let theme = sheet.theme;
        let (sign, gutter, base, word) = match line.sign {
            Sign::Added => (
                "+",
                theme.diff_added_number,
                theme.diff_added,
                theme.diff_added_word,
            ),
            Sign::Removed => (
                "-",
                theme.diff_removed_number,
                theme.diff_removed,
                theme.diff_removed_word,
            ),
            Sign::Context => (" ", theme.line_number, Style::new(), Style::new()),
            Sign::Skipped => (" ", theme.faint, Style::new(), Style::new()),
        };
        let margin = " ".repeat(sheet.margin);
        let fill = Style { fg: None, ..base };
        let mut first = Line::of(margin.clone(), Style::new());
        let number = if line.sign == Sign::Skipped {
            "⋯"
        } else {
            &line.number
        };
        first.push(&format!("{sign} {number:>numbers$}  "), gutter);
        let mut rest = Line::of(margin, Style::new());
        rest.push(&" ".repeat(numbers + 4), gutter);
        let text = styled(line, base, base.patch(word), index);
        store.offer((sheet.cell, place.block), place.language, index, &line.text);
        let from_row = rows.len();
        let prefix = Prefix { first, rest };
        wrap(&text, &prefix, sheet.columns, Break::Anywhere, rows);
        let gutter = super::wrap::prefix_width(&prefix.first, sheet.columns);
        let mut from = 0;
        for row in &mut rows[from_row..] {
            let (head, _) = super::width::fit(&row.text, gutter);
            let (at, len) = (head.len(), row.text.len() - head.len());
            row.byte = index as u32;
            row.fill = Style {
                add_modifier: ratatui::style::Modifier::empty(),
                ..fill
            };
            row.code = Some(CodeRef {
                block: place.block,
                line: index as u32,
                at: at as u32,
                from,
                len: len as u32,
            });
            from += len as u32;
        }
    }
}

fn styled(line: &DiffLine, base: Style, word: Style, index: usize) -> Line {
    let mut out = Line {
        byte: index as u32,
        ..Line::default()
    };
    let mut at = 0;
    for &(start, end) in &line.changed {
        out.push(&line.text[at..start], base);
        out.push(&line.text[start..end], word);
        at = end;
    }
    out.push(&line.text[at..], base);
    out
}

/// Columns that the gutter of `lines` takes.
pub fn gutter_width(lines: &[DiffLine]) -> usize {
    lines
        .iter()
        .map(|line| width(&line.number))
        .max()
        .unwrap_or(0)
        + 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_display_form_is_read() {
        let lines = read("  9 same\n-10 let a = 1;\n+10 let b = 1;\n    ...\n+ 11     x\n 12 ");
        let seen: Vec<_> = lines
            .iter()
            .map(|line| (line.sign, line.number.as_str(), line.text.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (Sign::Context, "9", "same"),
                (Sign::Removed, "10", "let a = 1;"),
                (Sign::Added, "10", "let b = 1;"),
                (Sign::Skipped, "", ""),
                (Sign::Added, "11", "    x"),
                (Sign::Context, "12", ""),
            ]
        );
        assert_eq!(lines[1].changed, [(4, 5)]);
        assert_eq!(lines[2].changed, [(4, 5)]);
    }

    #[test]
    fn lines_that_have_little_in_common_are_not_compared() {
        let lines = read("-1 completely different text here\n+1 fn main() {}");
        assert!(lines.iter().all(|line| line.changed.is_empty()));
    }

    #[test]
    fn odd_input_is_shown_as_it_is() {
        for text in [
            "",
            "+",
            "-",
            "x",
            "日本",
            "+日本",
            " \u{1b}[0m",
            "+99999999999999999999999 x",
            "+1x",
        ] {
            let _ = read(text);
        }
        assert_eq!(read("+1x")[0].text, "1x");
    }
}
