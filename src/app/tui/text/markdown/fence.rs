//! Code blocks: info strings and lines of code.

use ratatui_core::style::{Color, Style};

use super::chunk::{Chunk, CodeLines};
use super::container::{self, Container};
use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::{HighlightCache, mark_code};
use crate::app::tui::text::row::{Fill, Line, Row};
use crate::app::tui::text::row_log::RowLog;
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// The most blanks before a fence.
const MAX_INDENT: usize = 3;

/// The language in an info string: its first word, up to a comma or brace.
pub fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches("{.").trim_start_matches('.');
    let end = word.find([',', '{', '}', ':']).unwrap_or(word.len());
    word[..end].to_owned()
}

/// A code block, built from the parser's events.
pub struct OpenCode {
    /// The number of the block within the cell.
    pub block: u32,
    /// Lines of it in earlier chunks.
    pub lines_before: usize,
    pub is_fenced: bool,
    pub language: String,
    pub text: String,
    /// Its start, as a byte of the chunk.
    pub byte: usize,
    /// The starts of its lines of text.
    pub lines: Vec<usize>,
}

impl OpenCode {
    /// Adds part of the block's text, from byte `at` of `source`.
    pub fn push(&mut self, text: &str, at: usize, source: &str) {
        // The parser omits the CR of an empty line.
        let cr = text.starts_with('\n') && source[..at].ends_with('\r');
        let mut end = at;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if self.text.is_empty() || self.text.ends_with('\n') {
                self.lines.push(end - usize::from(cr && number == 0));
            }
            self.text.push_str(line);
            end += line.len();
        }
    }

    /// Writes its lines; returns how far an outermost block is complete.
    pub fn write(&self, target: &mut CodeTarget<'_>) -> Option<CodeLines> {
        let rows_before = target.rows.tail().len();
        let unfinished = target.chunk.open && !self.text.ends_with('\n');
        let complete = self.text.matches('\n').count();
        let lines = self.text.strip_suffix('\n').unwrap_or(&self.text);
        // A block without lines gets a row, too.
        let is_nothing_new = lines.is_empty() && complete == 0 && self.lines_before > 0;
        let count = if is_nothing_new { 0 } else { usize::MAX };
        for (number, line) in lines.split('\n').enumerate().take(count) {
            let open = unfinished && number == complete;
            if open && self.may_end_with(line, target.chunk.source) {
                break;
            }
            let line = line.strip_suffix('\r').unwrap_or(line);
            self.write_line(target, number, line, open);
            if !target.chunk.open {
                target.rows.pack_all();
            }
        }
        self.complete_lines(target, complete, rows_before)
    }

    /// Writes line `number` of the chunk. An `open` line can grow, so it isn't highlighted.
    fn write_line(&self, target: &mut CodeTarget<'_>, number: usize, line: &str, open: bool) {
        let (context, chunk) = (target.context, target.chunk);
        let style = context.theme.code_block;
        let clean = visible_line(line);
        let start = *self.lines.get(number).unwrap_or(&self.byte);
        let number = self.lines_before + number;
        if !open {
            let key = (context.cell, self.block);
            target
                .highlights
                .queue_line(key, &self.language, number, &clean);
        }
        let (before, fill_from) = target.before();
        // A tab that the fence's indentation cuts is longer here than in the source.
        let rest = chunk.source[start..].lines().next();
        let end = start + line.len().min(rest.map_or(0, str::len));
        let at = |byte: usize| (chunk.base + byte) as u32;
        let text = if chunk.source.get(start..end) == Some(line) {
            Line::visible(line, style, at(start))
        } else {
            Line::from_source(&clean, style, at(start)..at(end))
        };
        let from_row = target.rows.tail().len();
        let columns = context.columns;
        let mark = style.patch(context.theme.faint);
        let prefix = Prefix::hanging(before, &text.text, mark, columns);
        wrap(&text, &prefix, columns, Break::Code, target.rows.tail());
        let rows = &mut target.rows.tail()[from_row..];
        let fill = Fill::new(style, fill_from, columns);
        mark_code(rows, self.block, number, fill);
        if let (0, [row]) = (number, rows) {
            label(context, &self.language, row);
        }
    }

    fn complete_lines(
        &self,
        target: &mut CodeTarget<'_>,
        complete: usize,
        rows_before: usize,
    ) -> Option<CodeLines> {
        let last_line = complete.checked_sub(1).and_then(|at| self.lines.get(at));
        let start = *last_line.unwrap_or(&self.byte);
        // The end of the last line of code, and of the fence after it.
        let rest = &target.chunk.source.as_bytes()[start..];
        let mut line_ends = memchr::memchr_iter(b'\n', rest);
        let (end, closed) = (line_ends.next(), line_ends.next());
        let rows = if complete == 0 {
            rows_before
        } else {
            target.rows.tail().len()
        };
        Some(CodeLines {
            count: complete,
            is_closed: closed.is_some(),
            byte: start + closed.or(end)? + 1,
            rows,
        })
    }

    /// Whether an incomplete line may become the closing fence, in a chunk with this `source`.
    fn may_end_with(&self, line: &str, source: &str) -> bool {
        let mark = source.as_bytes()[self.byte];
        let trimmed = line.trim_start_matches(' ');
        self.is_fenced
            && line.len() - trimmed.len() <= MAX_INDENT
            && !trimmed.is_empty()
            && trimmed.bytes().all(|byte| byte == mark)
    }
}

pub struct CodeTarget<'a> {
    pub context: &'a RenderContext<'a>,
    pub chunk: &'a Chunk<'a>,
    pub containers: &'a mut [Container],
    pub highlights: &'a mut HighlightCache,
    pub rows: &'a mut RowLog,
}

impl CodeTarget<'_> {
    /// The prefix of a line, and the first column of its background.
    fn before(&mut self) -> (Line, usize) {
        let context = self.context;
        let mut before = container::prefix(context, self.containers).first;
        let fill_from = width(&before.text);
        // Code without a background has an edge.
        if matches!(context.theme.code_block.bg, None | Some(Color::Reset)) {
            before.push("│", context.theme.faint);
        }
        before.push("  ", Style::new());
        (before, fill_from)
    }
}

/// Puts the language at the right end of the block's first row, if there is room.
fn label(context: &RenderContext<'_>, language: &str, row: &mut Row) {
    let name = visible_line(language);
    let used = width(&row.text);
    let need = width(&name) + 1;
    if name.is_empty() || used + need + 2 > context.columns {
        return;
    }
    let mut line = Line::default();
    line.append_row(row);
    line.push(&" ".repeat(context.columns - used - need), row.fill.style);
    line.push(&name, context.theme.code_lang);
    row.text = line.text.into_boxed_str();
    row.runs = line.runs.into_boxed_slice();
}
