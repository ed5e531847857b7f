//! Diffs side by side: what was on the left, what is on the right, lines that became each other in one
//! row.

use ratatui::style::Style;

use super::RenderContext;
use super::code::HighlightCache;
use super::diff::{DiffLine, Sign, pairs, styled};
use super::halves::Halves;
use super::row::{CodeRef, Line, Row};
use super::width::width;
use super::wrap::{Break, Prefix, wrap};

/// Columns between the halves.
const GAP: usize = 3;
/// Columns of the sign and the air around it.
const SIGN: usize = 3;

/// Whether each half is as wide as its longest line: wrapped halves are harder to read than lines one
/// below the other.
pub fn has_room(context: &RenderContext<'_>, lines: &[DiffLine]) -> bool {
    let columns = half_columns(context).saturating_sub(digits(lines) + SIGN);
    lines.iter().all(|line| width(&line.text) <= columns)
}

fn half_columns(context: &RenderContext<'_>) -> usize {
    context.room().saturating_sub(GAP) / 2
}

/// Columns of the numbers.
fn digits(lines: &[DiffLine]) -> usize {
    let digits = lines.iter().map(|line| line.number.len());
    digits.max().unwrap_or(0)
}

/// Writes `lines` side by side. For its colors the diff is block number `block` of its cell, in the
/// language that the file's extension names.
pub fn write(
    context: &RenderContext<'_>,
    lines: &[DiffLine],
    (block, language): (u32, &str),
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) {
    let mut writer = Writer {
        context,
        lines,
        block,
        digits: digits(lines),
        columns: half_columns(context),
        rows,
    };
    for (index, line) in lines.iter().enumerate() {
        highlights.queue_line((context.cell, block), language, index, &line.text);
    }
    // Lines that came in so far, less those that went: what numbers differ by.
    let (mut at, mut grown) = (0, 0_i64);
    while at < lines.len() {
        let run = |from: usize, sign: Sign| {
            let run = lines[from..].iter().take_while(|line| line.sign == sign);
            run.count()
        };
        let (removed, added) = (run(at, Sign::Removed), 0);
        let added = added + run(at + removed, Sign::Added);
        if removed + added == 0 {
            writer.unchanged(at, grown);
            at += 1;
            continue;
        }
        let middle = at + removed;
        let end = middle + added;
        let paired = pairs(&lines[at..middle], &lines[middle..end]);
        let (mut old, mut new) = (at, middle);
        let ends = paired.iter().map(|(old, new)| (at + old, middle + new));
        for (to_old, to_new) in ends.chain([(middle, end)]) {
            for step in 0..(to_old - old).max(to_new - new) {
                let left = Some(old + step).filter(|at| *at < to_old);
                let right = Some(new + step).filter(|at| *at < to_new);
                writer.pair(left, right, at..end);
            }
            (old, new) = (to_old, to_new);
            if old < middle && new < end {
                writer.pair(Some(old), Some(new), at..end);
                (old, new) = (old + 1, new + 1);
            }
        }
        grown += added as i64 - removed as i64;
        at = end;
    }
}

struct Writer<'a> {
    context: &'a RenderContext<'a>,
    lines: &'a [DiffLine],
    block: u32,
    /// Columns of the numbers.
    digits: usize,
    /// Columns of each half.
    columns: usize,
    rows: &'a mut Vec<Row>,
}

impl Writer<'_> {
    /// A line that both have.
    fn unchanged(&mut self, at: usize, grown: i64) {
        let line = &self.lines[at];
        let number = line.number.parse::<i64>().ok();
        let before = number.map_or(String::new(), |number| (number - grown).to_string());
        let left = self.half(at, &before);
        let right = self.half(at, &line.number);
        self.both(left, right, Some(at), Some(at), at..at + 1);
    }

    /// A line that went, and one that came in its place; they belong to the run of changes `run`.
    fn pair(&mut self, left: Option<usize>, right: Option<usize>, run: std::ops::Range<usize>) {
        let half =
            |at: Option<usize>| at.map_or(Vec::new(), |at| self.half(at, &self.lines[at].number));
        let (left_rows, right_rows) = (half(left), half(right));
        self.both(left_rows, right_rows, left, right, run);
    }

    /// The rows of one half, as wide as it is.
    fn half(&self, at: usize, number: &str) -> Vec<Row> {
        let (line, theme) = (&self.lines[at], self.context.theme);
        let (sign, gutter, base, word) = line.sign.looks(theme);
        let number = if line.sign == Sign::Skipped {
            "⋯"
        } else {
            number
        };
        let digits = self.digits;
        let first = Line::of(format!("{number:>digits$} {sign} "), gutter);
        let blank = Line::of(" ".repeat(width(&first.text)), gutter);
        let mark = gutter.patch(theme.faint);
        let rest = Prefix::hanging(blank, &line.text, mark, self.columns).rest;
        let text = styled(line, base, base.patch(word));
        let mut rows = Vec::new();
        let prefix = Prefix { first, rest };
        wrap(&text, &prefix, self.columns, Break::Code, &mut rows);
        rows
    }

    fn both(
        &mut self,
        left: Vec<Row>,
        right: Vec<Row>,
        left_line: Option<usize>,
        right_line: Option<usize>,
        run: std::ops::Range<usize>,
    ) {
        let lines = self.lines;
        let source = lines[run.start].source.start..lines[run.end - 1].source.end;
        let mut from = [0_u32; 2];
        for index in 0..left.len().max(right.len()) {
            let mut line = self.context.indent();
            let mut code = [None, None];
            let mut middle = 0;
            let mut is_soft = false;
            for (side, (half, number)) in [(&left, left_line), (&right, right_line)]
                .into_iter()
                .enumerate()
            {
                if side == 1 {
                    line.push(" │ ", self.context.theme.faint);
                    middle = line.text.len() as u32;
                }
                let ground = number.map_or(Style::new(), |at| self.ground(at));
                let base = line.text.len() as u32;
                let mut used = 0;
                if let (Some(row), Some(number)) = (half.get(index), number) {
                    line.append_row(row);
                    used = width(&row.text);
                    is_soft |= row.soft_wrap;
                    let place = CodeRef {
                        block: self.block,
                        line: number as u32,
                        from: from[side],
                    };
                    from[side] += row.content.len() as u32;
                    code[side] = Some((place, base + row.content.start..base + row.content.end));
                }
                let rest = self.columns.saturating_sub(used);
                let ground = if half.is_empty() {
                    Style::new()
                } else {
                    ground
                };
                line.push(&" ".repeat(rest), ground);
            }
            let mut row = line.into_row();
            row.source = source.clone();
            row.soft_wrap = is_soft;
            row.code = code.iter().flatten().next().map(|(code, _)| *code);
            row.halves = Some(Box::new(Halves {
                right: middle,
                code,
            }));
            self.rows.push(row);
        }
    }

    /// What stands behind the text of a line.
    fn ground(&self, at: usize) -> Style {
        let theme = self.context.theme;
        let style = match self.lines[at].sign {
            Sign::Added => theme.diff_added,
            Sign::Removed => theme.diff_removed,
            Sign::Context | Sign::Skipped => Style::new(),
        };
        Style {
            fg: None,
            add_modifier: ratatui::style::Modifier::empty(),
            ..style
        }
    }
}
