//! Turns diffs in display form into rows: numbers, signs, tints, and changed words within lines.

use std::ops::Range;
use std::time::{Duration, Instant};

use ratatui_core::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;

use super::RenderContext;
use super::code::{HighlightCache, mark_code};
use super::row::{Fill, Line, Row, lines};
use super::width::width;
use super::wrap::{Break, Prefix, wrap};
use crate::agent::diff::{self, DiffOp, DiffTag};
use crate::app::sanitize::visible_line;
use crate::app::tui::theme::Theme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Context,
    /// Lines are omitted here.
    Skipped,
}

impl Sign {
    /// The sign, and the styles of its line: number, text, changed words.
    pub(super) fn looks(self, theme: &Theme) -> (&'static str, Style, Style, Style) {
        match self {
            Self::Added => (
                "+",
                theme.diff_added_number,
                theme.diff_added,
                theme.diff_added_word,
            ),
            Self::Removed => (
                "−",
                theme.diff_removed_number,
                theme.diff_removed,
                theme.diff_removed_word,
            ),
            Self::Context => (" ", theme.line_number, Style::new(), Style::new()),
            Self::Skipped => (" ", theme.faint, Style::new(), Style::new()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DiffLine {
    pub sign: Sign,
    pub number: String,
    /// The text, without control characters.
    pub text: String,
    /// The text as in the source, if it differs.
    raw: Option<Box<str>>,
    /// The bytes of the text in the source.
    pub source: Range<u32>,
    /// Byte ranges that differ from the paired line.
    pub changed: Vec<(usize, usize)>,
}

/// Longer pairs of lines aren't compared word by word.
const MAX_PAIR_BYTES: usize = 1_000;
/// The time limit for comparing two lines; lines this short never need it.
const COMPARING: Duration = Duration::from_secs(1);

/// Runs with more pairs than this are paired one after the other.
const MAX_COMPARED: usize = 400;

/// Less similar lines are new text, not changed text.
const MIN_LIKENESS: f32 = 0.35;

/// Parses the display form (see `DiffDetails::diff`), which starts at byte `base` of the source.
pub fn read(diff: &str, base: usize) -> Vec<DiffLine> {
    let mut lines: Vec<_> = lines(diff)
        .map(|(at, line)| read_line(line, base + at))
        .collect();
    // The line numbers already show that more lines come before and after.
    let is_skipped = |line: &DiffLine| line.sign == Sign::Skipped;
    while lines.pop_if(|line| is_skipped(line)).is_some() {}
    let lead = lines.iter().take_while(|line| is_skipped(line)).count();
    lines.drain(..lead);
    mark_words(&mut lines);
    lines
}

fn read_line(line: &str, base: usize) -> DiffLine {
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
    let end = (base + line.len()) as u32;
    let clean = visible_line(text).into_owned();
    DiffLine {
        sign,
        number: number.to_owned(),
        raw: (clean != text).then(|| text.into()),
        text: clean,
        source: end - text.len() as u32..end,
        changed: Vec::new(),
    }
}

/// Compares each run of removed lines with the added lines after it. Lines are paired by
/// similarity, in order; unpaired added lines are new.
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
        let (old, rest) = lines[at..].split_at_mut(removed);
        let new = &mut rest[..added];
        for (in_old, in_new) in pairs(old, new) {
            mark_pair(&mut old[in_old], &mut new[in_new]);
        }
        at += (removed + added).max(1);
    }
}

/// The pairs of lines of `old` and `new`, in order, with the greatest total similarity.
pub(super) fn pairs(old: &[DiffLine], new: &[DiffLine]) -> Vec<(usize, usize)> {
    if old.len() * new.len() > MAX_COMPARED {
        return (0..old.len().min(new.len())).map(|at| (at, at)).collect();
    }
    let columns = new.len() + 1;
    // In thousandths.
    let likeness: Vec<u32> = old
        .iter()
        .flat_map(|old| new.iter().map(|new| compare(&old.text, &new.text)))
        .map(|diff| diff.map_or(0, |diff| (diff.likeness() * 1000.0) as u32))
        .collect();
    // The best total from here on, filled from the end.
    let mut best = vec![0; (old.len() + 1) * columns];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let pair = likeness[i * new.len() + j] + best[(i + 1) * columns + j + 1];
            let skip = best[(i + 1) * columns + j].max(best[i * columns + j + 1]);
            best[i * columns + j] = pair.max(skip);
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let here = best[i * columns + j];
        if here == best[i * columns + j + 1] {
            j += 1;
        } else if here == best[(i + 1) * columns + j] {
            i += 1;
        } else {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    pairs
}

/// Two lines, compared word by word.
struct Comparison<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    steps: Vec<DiffOp>,
}

/// The comparison of two lines, if they're similar enough.
fn compare<'a>(old: &'a str, new: &'a str) -> Option<Comparison<'a>> {
    if old.len().max(new.len()) > MAX_PAIR_BYTES {
        return None;
    }
    let words = |text: &'a str| text.split_word_bounds().map(str::as_bytes).collect();
    let (old, new): (Vec<_>, Vec<_>) = (words(old), words(new));
    let steps = diff::compare(&old, &new, Instant::now() + COMPARING);
    let comparison = Comparison { old, new, steps };
    (comparison.likeness() >= MIN_LIKENESS).then_some(comparison)
}

impl Comparison<'_> {
    /// The share of words that both lines have, 0 to 1.
    fn likeness(&self) -> f32 {
        let equal = self
            .steps
            .iter()
            .filter(|step| step.tag() == DiffTag::Equal);
        let equal: usize = equal.map(|step| step.old_range().len()).sum();
        let all = self.old.len() + self.new.len();
        if all == 0 {
            1.0
        } else {
            2.0 * equal as f32 / all as f32
        }
    }
}

fn mark_pair(old: &mut DiffLine, new: &mut DiffLine) {
    let Some(comparison) = compare(&old.text, &new.text) else {
        return;
    };
    let bytes = |words: &[&[u8]]| words.iter().map(|word| word.len()).sum::<usize>();
    let (mut in_old, mut in_new) = (0, 0);
    let (mut old_ranges, mut new_ranges) = (Vec::new(), Vec::new());
    for step in &comparison.steps {
        let removed = bytes(&comparison.old[step.old_range()]);
        let added = bytes(&comparison.new[step.new_range()]);
        if step.tag() != DiffTag::Equal {
            push_range(&mut old_ranges, in_old, in_old + removed);
            push_range(&mut new_ranges, in_new, in_new + added);
        }
        in_old += removed;
        in_new += added;
    }
    old.changed = old_ranges;
    new.changed = new_ranges;
}

fn push_range(ranges: &mut Vec<(usize, usize)>, start: usize, end: usize) {
    match ranges.last_mut() {
        _ if start == end => {}
        Some(last) if last.1 == start => last.1 = end,
        _ => ranges.push((start, end)),
    }
}

/// Writes `lines`; long lines wrap after the gutter. For its colors, the diff is block `block` of
/// its cell, in the language of the file's extension.
pub fn write(
    context: &RenderContext<'_>,
    lines: &[DiffLine],
    (block, language): (u32, &str),
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) {
    let numbers = lines
        .iter()
        .map(|line| line.number.len())
        .max()
        .unwrap_or(0);
    for (index, line) in lines.iter().enumerate() {
        let theme = context.theme;
        let (sign, gutter, base, word) = line.sign.looks(theme);
        let context = &RenderContext {
            rail: context.rail.map(|rail| match line.sign {
                Sign::Added | Sign::Removed => Style { bg: None, ..gutter },
                Sign::Context | Sign::Skipped => rail,
            }),
            ..*context
        };
        let mut first = context.indent();
        let number = if line.sign == Sign::Skipped {
            "⋯"
        } else {
            &line.number
        };
        let number = match numbers {
            0 => String::new(),
            _ => format!("{number:>numbers$} "),
        };
        first.push(&format!("{number}{sign} "), gutter);
        let mut blank = context.indent();
        blank.push(&" ".repeat(width(&number) + 2), gutter);
        let mark = gutter.patch(theme.faint);
        let rest = Prefix::hanging(blank, &line.text, mark, context.columns).rest;
        let text = styled(line, base, base.patch(word));
        highlights.queue_line((context.cell, block), language, index, &line.text);
        let from_row = rows.len();
        let prefix = Prefix { first, rest };
        wrap(&text, &prefix, context.columns, Break::Code, rows);
        let ground = Style {
            add_modifier: Modifier::empty(),
            ..base
        };
        let fill = match line.sign {
            Sign::Added | Sign::Removed => Fill::new(ground, context.margin, context.columns),
            Sign::Context | Sign::Skipped => Fill::default(),
        };
        mark_code(&mut rows[from_row..], block, index, fill);
    }
}

pub(super) fn styled(line: &DiffLine, base: Style, word: Style) -> Line {
    let mut out = Line::default();
    let mut at = 0;
    let mut push = |to: usize, style| {
        out.push(&line.text[at..to], style);
        at = to;
    };
    for &(start, end) in &line.changed {
        push(start, base);
        push(end, word);
    }
    push(line.text.len(), base);
    out.map(
        line.raw.as_deref().unwrap_or(&line.text),
        0,
        line.source.start,
    );
    out
}
