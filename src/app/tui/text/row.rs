//! Rows: single lines of styled text, ready for the screen. Made once, drawn many times.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use serde::{Deserialize, Serialize};

use super::highlight::CodeLine;
use super::span::SourceSpan;
use super::width::graphemes;
use crate::app::sanitize::{visible_line, visible_parts};

/// One row of the screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its text, from the left edge, without control characters.
    pub text: Box<str>,
    /// Its styles, as runs with their ends in bytes of `text`.
    pub runs: Box<[StyledRun]>,
    /// The background below the text.
    pub fill: Fill,
    /// The part that a click on it opens or folds.
    pub opens: Opens,
    /// The bytes of `text` that come from the source, without margin, marker, gutter or label.
    pub content: Range<u32>,
    /// The bytes of the cell's source that it shows. Never decreases from row to row.
    pub source: Range<u32>,
    /// The same, part by part.
    pub spans: Box<[SourceSpan]>,
    /// Whether the line continues in the next row.
    pub soft_wrap: bool,
    /// Code that may get colors later.
    pub code: Option<CodeRef>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fill {
    pub style: Style,
    /// Its first column.
    pub from: u16,
    /// The column after its last.
    pub to: u16,
}

impl Fill {
    /// From column `from` up to column `to`.
    pub fn new(style: Style, from: usize, to: usize) -> Self {
        let style = Style { fg: None, ..style };
        let (from, to) = (from as u16, to as u16);
        Self { style, from, to }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opens {
    #[default]
    Nothing,
    Cell,
    /// Its cell, if the row has the label of a paste: a click there opens it, too.
    Paste,
    Group,
}

/// A run of text with one style.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StyledRun {
    /// Its end, in bytes.
    pub end: u32,
    pub style: Style,
}

/// The part of a line of code that a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeRef {
    /// The number of the code block within its cell.
    pub block: u32,
    /// The number of the line within the block.
    pub line: u32,
    /// The byte of the line where the row's content starts.
    pub from: u32,
}

impl Row {
    /// Draws the row at `(x, y)`, at most `width` columns, with the `colors` of its line of code.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        (x, y): (u16, u16),
        width: u16,
        colors: Option<CodeLine<'_>>,
    ) {
        let to = self.fill.to.min(width);
        if self.fill.from < to {
            let columns = to - self.fill.from;
            let area = ratatui_core::layout::Rect::new(x + self.fill.from, y, columns, 1);
            buffer.set_style(area, self.fill.style);
        }
        let right = x.saturating_add(width);
        let (mut x, mut start) = (x, 0);
        for run in &self.runs {
            let end = run.end as usize;
            while start < end {
                let (stop, style) = match self.code.zip(colors) {
                    Some((place, line)) => {
                        overlaid(place, &self.content, line, start..end, run.style)
                    }
                    None => (end, run.style),
                };
                let Some(piece) = self.text.get(start..stop) else {
                    return;
                };
                x = buffer
                    .set_stringn(x, y, piece, usize::from(right.saturating_sub(x)), style)
                    .0;
                start = stop;
            }
        }
    }

    /// The bytes of the character at this column of the row, or the end of the text.
    pub fn at_column(&self, column: usize) -> Range<u32> {
        let (mut at, mut right) = (0, 0);
        for (grapheme, width) in graphemes(&self.text) {
            right += width;
            if column < right {
                return at as u32..(at + grapheme.len()) as u32;
            }
            at += grapheme.len();
        }
        let end = self.text.len() as u32;
        end..end
    }

    /// Whether it shows source text.
    pub fn has_source(&self) -> bool {
        !self.source.is_empty()
    }

    /// Whether it belongs to a line of the source, even an empty line of code.
    pub fn is_of_source(&self) -> bool {
        self.has_source() || self.code.is_some()
    }

    /// The byte of its text for byte `source` of the source.
    pub fn text_at(&self, source: u32) -> u32 {
        let reaches = |span: &&SourceSpan| source <= span.source.end;
        let Some(span) = self.spans.iter().find(reaches) else {
            return self.content.end;
        };
        if source <= span.source.start {
            span.text.start
        } else if span.exact {
            span.text.start + (source - span.source.start)
        } else {
            span.text.end
        }
    }

    /// The byte of the source for byte `text` of its text.
    pub fn source_at(&self, text: u32) -> u32 {
        let reaches = |span: &&SourceSpan| text <= span.text.end;
        let Some(span) = self.spans.iter().find(reaches) else {
            return self.source.end;
        };
        if span.exact || text >= span.text.end {
            span.source_at(text)
        } else {
            span.source.start
        }
    }
}

/// The byte of the source where `rows` end.
pub fn end_of(rows: &[Row]) -> u32 {
    rows.last().map_or(0, |row| row.source.end)
}

/// The end and style of the run at the start of `range`, with the colors of code on top.
fn overlaid(
    place: CodeRef,
    content: &Range<u32>,
    line: CodeLine<'_>,
    range: Range<usize>,
    base: Style,
) -> (usize, Style) {
    let (start, end) = (range.start, range.end);
    let (at, code_end) = (content.start as usize, content.end as usize);
    if start < at {
        return (end.min(at), base);
    }
    if start >= code_end {
        return (end, base);
    }
    let offset = start - at + place.from as usize;
    let Some((run_end, style)) = line.at(offset) else {
        return (end.min(code_end), base);
    };
    let stop = (run_end - place.from as usize + at).min(end).min(code_end);
    (stop.max(start + 1), base.patch(style))
}

/// Styled text of any length, before wrapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The text, without control characters or line feeds.
    pub text: String,
    pub(crate) runs: Vec<StyledRun>,
    /// Which parts of it come from which bytes of the source, in order.
    pub(crate) spans: Vec<SourceSpan>,
}

impl Line {
    /// A line of one style without source.
    pub fn of(text: impl Into<String>, style: Style) -> Self {
        let mut line = Self {
            text: text.into(),
            ..Self::default()
        };
        line.close(style);
        line
    }

    /// A line of one style: `raw` from byte `at` of the source, sanitized.
    pub fn visible(raw: &str, style: Style, at: u32) -> Self {
        let mut line = Self::default();
        line.push_visible(raw, style, at);
        line
    }

    /// A line of one style from the bytes `source` of the source.
    pub fn from_source(text: &str, style: Style, source: Range<u32>) -> Self {
        let mut line = Self::default();
        line.push_source(text, style, source);
        line
    }

    /// Appends `text`, which must have no control characters.
    pub fn push(&mut self, text: &str, style: Style) {
        self.text.push_str(text);
        self.close(style);
    }

    /// The same for text from the bytes `source` of the source.
    pub fn push_source(&mut self, text: &str, style: Style, source: Range<u32>) {
        let start = self.text.len() as u32;
        self.push(text, style);
        self.add_span(SourceSpan {
            text: start..self.text.len() as u32,
            source,
            exact: false,
        });
    }

    /// Appends `raw` from byte `at` of the source, sanitized.
    pub fn push_visible(&mut self, raw: &str, style: Style, at: u32) {
        let base = self.text.len() as u32;
        let clean = visible_line(raw);
        self.push(&clean, style);
        if clean == raw {
            let text = base..self.text.len() as u32;
            return self.add_span(SourceSpan {
                text,
                source: at..at + raw.len() as u32,
                exact: true,
            });
        }
        self.map(raw, base, at);
    }

    /// Notes that the text from byte `base` on is `raw`, sanitized, from byte `at` of the source.
    pub(crate) fn map(&mut self, raw: &str, base: u32, at: u32) {
        let end = self.text.len() as u32;
        let mut from = base;
        if raw.is_empty() {
            self.end_at(at);
        }
        for (source, clean) in visible_parts(raw) {
            let to = (from + clean as u32).min(end);
            self.add_span(SourceSpan {
                text: from..to,
                exact: clean == source.len(),
                source: at + source.start as u32..at + source.end as u32,
            });
            from = to;
        }
    }

    /// Notes that the line ends at this byte of the source.
    pub(crate) fn end_at(&mut self, byte: u32) {
        self.push_source("", Style::new(), byte..byte);
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn close(&mut self, style: Style) {
        let end = self.text.len() as u32;
        match self.runs.last_mut() {
            Some(last) if last.style == style => last.end = end,
            last => {
                if last.map_or(0, |last| last.end) < end {
                    self.runs.push(StyledRun { end, style });
                }
            }
        }
    }

    fn add_span(&mut self, span: SourceSpan) {
        match self.spans.last_mut() {
            Some(last)
                if last.text.end == span.text.start
                    && last.source.end == span.source.start
                    && last.exact
                    && span.exact =>
            {
                last.text.end = span.text.end;
                last.source.end = span.source.end;
            }
            _ => self.spans.push(span),
        }
    }

    /// Appends the bytes `range` of `other`.
    pub fn push_part(&mut self, other: &Self, range: Range<usize>) {
        let base = self.text.len() as u32;
        let mut start = range.start;
        let first = other.runs.partition_point(|run| run.end as usize <= start);
        let runs = &other.runs[first..];
        let count = runs.iter().take_while(|run| (run.end as usize) < range.end);
        self.runs.reserve_exact(runs.len().min(count.count() + 1));
        self.text.reserve_exact(range.len());
        for run in runs {
            let end = (run.end as usize).min(range.end);
            if start >= end {
                break;
            }
            self.push(&other.text[start..end], run.style);
            start = end;
        }
        self.push_spans(other, range.start as u32..range.end as u32, base);
    }

    /// Appends the spans of the bytes `range` of `other`, which are at `base` here.
    fn push_spans(&mut self, other: &Self, range: Range<u32>, base: u32) {
        let first = other
            .spans
            .partition_point(|span| span.text.end <= range.start);
        let spans = &other.spans[first..];
        let count = spans.iter().take_while(|span| span.text.start < range.end);
        self.spans.reserve_exact(count.count());
        for span in spans {
            let (from, to) = (
                span.text.start.max(range.start),
                span.text.end.min(range.end),
            );
            if from >= to {
                break;
            }
            self.add_span(SourceSpan {
                text: base + from - range.start..base + to - range.start,
                source: if span.exact {
                    span.source_at(from)..span.source_at(to)
                } else {
                    span.source.clone()
                },
                exact: span.exact,
            });
        }
        if self.spans.is_empty()
            && let Some(near) = other.spans.get(first).or(other.spans.last())
        {
            // It has no source text, but a place in the source.
            let byte = near.source_at(range.start);
            let end = self.text.len() as u32;
            self.spans.push(SourceSpan {
                text: end..end,
                source: byte..byte,
                exact: true,
            });
        }
    }

    /// Its first `end` bytes.
    pub(crate) fn up_to(&self, end: usize) -> Self {
        let mut head = Self::default();
        head.push_part(self, 0..end);
        head
    }

    pub(crate) fn style_at(&self, at: usize) -> Style {
        let run = self.runs.iter().find(|run| run.end as usize > at);
        run.map_or_else(Style::new, |run| run.style)
    }

    /// This line as a single row.
    pub fn into_row(self) -> Row {
        let over = |range: fn(&SourceSpan) -> &Range<u32>| {
            let first = self.spans.first().map_or(0, |span| range(span).start);
            first..self.spans.last().map_or(0, |span| range(span).end)
        };
        Row {
            content: over(|span| &span.text),
            source: over(|span| &span.source),
            text: self.text.into_boxed_str(),
            runs: self.runs.into_boxed_slice(),
            spans: self.spans.into_boxed_slice(),
            ..Row::default()
        }
    }

    pub(crate) fn append_row(&mut self, row: &Row) {
        let base = self.text.len() as u32;
        let mut start = 0;
        for run in &row.runs {
            self.push(&row.text[start..run.end as usize], run.style);
            start = run.end as usize;
        }
        for span in row.spans.iter().filter(|span| !span.source.is_empty()) {
            self.add_span(SourceSpan {
                text: base + span.text.start..base + span.text.end,
                source: span.source.clone(),
                exact: span.exact,
            });
        }
    }
}

/// The lines of `text` without line ends, each with its first byte.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = next;
        next += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        (at, line.strip_suffix('\r').unwrap_or(line))
    })
}
