//! Turns selected rows back into their source text, without things only the screen has: margins,
//! numbers, borders, wrapping.

use std::borrow::Cow;
use std::ops::Range;

use super::row::Row;
use super::span::{source_of, union};

/// How the source of a cell is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyForm {
    /// The source from the first byte to the last: markdown with its markup.
    Whole,
    /// The same without markup at both ends.
    Word,
    /// Line by line, as shown, without line numbers and signs.
    Lines,
}

/// The selected rows of one cell, with the ranges in the first and last.
#[derive(Clone, Debug)]
pub struct SelectedRows<'a> {
    /// These rows, the row above them, and those below up to the next with source text.
    pub rows: Vec<Cow<'a, Row>>,
    pub range: Range<usize>,
    /// The start of the selection in the first row's text, as a byte offset.
    pub from: u32,
    /// The end of the selection in the last row's text, as a byte offset.
    pub to: u32,
}

impl SelectedRows<'_> {
    pub fn text(&self, source: &str, form: CopyForm) -> String {
        let mut shown = self.range.clone().filter(|&at| self.source(at).is_some());
        let (Some(first), last) = (shown.next(), shown.next_back()) else {
            return match form {
                CopyForm::Whole | CopyForm::Word => String::new(),
                CopyForm::Lines => self.decoration(),
            };
        };
        let last = last.unwrap_or(first);
        match form {
            CopyForm::Whole | CopyForm::Word if self.code_block(first, last).is_none() => {
                self.whole(source, first, last, form)
            }
            CopyForm::Whole | CopyForm::Word => self.lines(source, first..last + 1),
            CopyForm::Lines => self.lines(source, self.range.clone()),
        }
    }

    pub fn text_range(&self, at: usize) -> Range<u32> {
        let row = &self.rows[at];
        let from = if at == self.range.start { self.from } else { 0 };
        let to = if at + 1 == self.range.end {
            self.to
        } else {
            row.text.len() as u32
        };
        from..to.max(from)
    }

    fn source(&self, at: usize) -> Option<Range<u32>> {
        source_of(&self.rows[at].spans, &self.text_range(at))
    }

    fn code_block(&self, first: usize, last: usize) -> Option<u32> {
        let block = self.rows[first].code?.block;
        let mut rows = self.rows[first..=last].iter();
        let inside = rows.all(|row| row.code.is_some_and(|code| code.block == block));
        inside.then_some(block)
    }

    fn whole(&self, source: &str, first: usize, last: usize, form: CopyForm) -> String {
        let parts = (first..=last).filter_map(|at| self.source(at));
        let all = parts.reduce(union).unwrap_or_default();
        let (mut start, mut end) = (all.start as usize, all.end as usize);
        if form == CopyForm::Word {
            return slice(source, start..end).to_owned();
        }
        // The selection starts with the first source text of the row.
        if self.text_range(first).start <= self.rows[first].content.start {
            start = self.line_start(source, first, last, start);
        }
        if self.ends_row(last) {
            end = self.line_end(source, first, last, end);
        }
        slice(source, start..end).to_owned()
    }

    fn ends_row(&self, at: usize) -> bool {
        self.text_range(at).end >= self.rows[at].content.end
    }

    /// The start of byte `start`'s line. Includes hidden markup before it, and the fence of a code
    /// block that ends within the selection.
    fn line_start(&self, source: &str, first: usize, last: usize, start: usize) -> usize {
        let mut line = slice(source, 0..start).rfind('\n').map_or(0, |at| at + 1);
        let shown = self.rows[..first].iter().rev();
        let before = shown.map(|row| row.source.end as usize).next().unwrap_or(0);
        let begins_code = self.rows[first]
            .code
            .filter(|code| code.line == 0 && code.from == 0);
        let leaves = self.code_block(first, last).is_none();
        if let (Some(_), true, 1..) = (begins_code, leaves, line) {
            let above = slice(source, 0..line - 1);
            let fence = above.rfind('\n').map_or(0, |at| at + 1);
            if is_fence(&above[fence..]) {
                line = fence;
            }
        }
        if before <= line { line } else { start }
    }

    /// The end of byte `end`'s line, including hidden markup after it.
    fn line_end(&self, source: &str, first: usize, last: usize, end: usize) -> usize {
        let line_end = |from: usize| {
            let rest = slice(source, from..source.len());
            from + rest.find('\n').unwrap_or(rest.len())
        };
        let mut line = line_end(end);
        let mut below = self.rows[last + 1..].iter().filter(|row| row.has_source());
        let next = below.next();
        let ends_code = self.rows[last].code.is_some_and(|code| {
            let goes_on = next.and_then(|row| row.code);
            goes_on.is_none_or(|next| next.block != code.block)
        });
        if ends_code && self.code_block(first, last).is_none() && line < source.len() {
            let fence = line_end(line + 1);
            if is_fence(slice(source, line + 1..fence)) {
                line = fence;
            }
        }
        let next = next.map_or(source.len(), |row| row.source.start as usize);
        if line <= next { line } else { end }
    }

    /// Line by line; a line that spans several rows is one.
    fn lines(&self, source: &str, range: Range<usize>) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut open: Option<Range<u32>> = None;
        let signs = self.signs(source);
        for at in range.clone() {
            let row = &self.rows[at];
            if let Some(part) = self.source(at) {
                let all = open.take().map_or(part.clone(), |open| union(open, part));
                let ends = range.end == at + 1 || self.source(at + 1).is_none();
                if row.soft_wrap && !ends {
                    open = Some(all);
                    continue;
                }
                let (start, mut end) = (all.start as usize, all.end as usize);
                if self.ends_row(at) && !row.soft_wrap {
                    // Text that is cut at the end of the row belongs to the line.
                    let rest = slice(source, end..source.len());
                    end += rest.find('\n').unwrap_or(rest.len());
                }
                let text = slice(source, start..end);
                let text = text.strip_suffix('\r').unwrap_or(text);
                lines.push(match sign(source, start).filter(|_| signs) {
                    Some(sign) => format!("{sign}{text}"),
                    None => text.to_owned(),
                });
            } else if is_blank(&row.text) || row.is_of_source() {
                lines.push(String::new());
            } else {
                let text = self.shown(at);
                if !text.is_empty() {
                    lines.push(text.to_owned());
                }
            }
        }
        lines.join("\n").trim_matches('\n').to_owned()
    }

    /// Whether the selection has diff lines that only their signs distinguish.
    fn signs(&self, source: &str) -> bool {
        let signed = self.range.clone().filter_map(|at| {
            let row = &self.rows[at];
            let numbered = row.text.get(..row.content.start as usize).unwrap_or("");
            row.code
                .filter(|_| numbered.trim_end().ends_with(['+', '-', '−']))?;
            sign(source, self.source(at)?.start as usize)
        });
        let signs: Vec<char> = signed.collect();
        signs.contains(&'+') && signs.contains(&'-')
    }

    /// The displayed text if nothing comes from the source: a title, an error.
    fn decoration(&self) -> String {
        let rows = self.range.clone();
        let rows = rows.filter(|at| !self.rows[*at].is_of_source());
        let rows: Vec<&str> = rows.map(|at| self.shown(at)).collect();
        rows.join("\n").trim_matches('\n').to_owned()
    }

    /// The selected text of row `at`, without its mark.
    fn shown(&self, at: usize) -> &str {
        // Leave out the row that tells how to unfold.
        let is_air = |c: char| c.is_whitespace() || c == '│';
        let row = self.rows[at].text.trim_start_matches(is_air);
        if row.starts_with(['…', '⋯']) {
            return "";
        }
        let range = self.text_range(at);
        let text = self.rows[at]
            .text
            .get(range.start as usize..range.end as usize);
        let marks = ['✓', '✗', '●', '○', '⊘', '∴', '│', '▎', '❯', '·'];
        let text = text.unwrap_or_default();
        text.trim_start_matches(|c: char| c.is_whitespace() || marks.contains(&c))
            .trim_end()
    }
}

/// Whether a line is the fence of a code block.
fn is_fence(line: &str) -> bool {
    line.contains("```") || line.contains("~~~")
}

/// Whether a row is empty except for the rail.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '│')
}

/// The sign of the diff line with byte `at`.
fn sign(source: &str, at: usize) -> Option<char> {
    let before = slice(source, 0..at);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let mut prefix = before[line..].chars();
    let sign = prefix
        .next()
        .filter(|sign| matches!(sign, '+' | '-' | ' '))?;
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '~');
    prefix.all(is_number).then_some(sign)
}

/// The bytes `range` of `source`, limited to whole characters.
fn slice(source: &str, range: Range<usize>) -> &str {
    let start = source.floor_char_boundary(range.start.min(source.len()));
    let end = source.ceil_char_boundary(range.end.min(source.len()));
    source.get(start..end).unwrap_or_default()
}
