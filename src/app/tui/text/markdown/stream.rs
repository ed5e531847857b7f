//! Markdown that is still coming in. Blocks that can no longer change are written once and kept;
//! only the open block at the end is written again.
//!
//! A block is closed when another begins after it, as far as complete lines tell: a partial line
//! (`|`, `#`) can pass for a block that it will not be. Fenced code closes line by line. A block
//! that grows beyond a bound is closed in pieces (by item, by table row, by line), which may look
//! rough at the seam; such a text, and one with link definitions, is written once more when it is
//! complete.

use super::chunk::{BlockKind, BlockStart, Chunk, RenderOutput};
use super::fence::{CodeText, Fence, write_code};
use super::writer::write;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::CodeStore;
use crate::app::tui::text::row::{Line, Row};
use ratatui::style::Style;

/// Bytes an open block may have before it is closed in pieces.
const BOUND: usize = 8 * 1024;

/// The rows of a growing markdown text.
#[derive(Debug, Default)]
pub struct MarkdownRows {
    rows: Vec<Row>,
    /// Rows, bytes and code blocks that will not change any more.
    closed_rows: usize,
    closed: usize,
    code_blocks: u32,
    /// Whether a blank row is due before the open block.
    gap: bool,
    /// Up to where complete lines were searched for closed blocks.
    searched: usize,
    /// Up to where lone CRs were looked for.
    looked: usize,
    mode: Mode,
    /// Whether the rows may differ from those of the whole text.
    rough: bool,
    stats: RenderStats,
}

/// What was done so far, in bytes of source: for tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderStats {
    /// Written for good.
    pub closed: usize,
    /// RenderOutput in all, the open block each time.
    pub written: usize,
    /// The most that one update wrote.
    pub most: usize,
}

/// What the open block is part of.
#[derive(Debug, Default)]
enum Mode {
    #[default]
    Blocks,
    /// A fenced code block; so many lines of it are closed.
    Code {
        fence: Fence,
        /// Byte of the source at which the fence stands.
        start: usize,
        lines: usize,
    },
    /// A table whose first rows are closed: the source of its head, and its widths.
    Table { head: String, widths: Vec<usize> },
}

impl MarkdownRows {
    /// The rows, as of the last update.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What was done so far.
    pub fn stats(&self) -> RenderStats {
        self.stats
    }

    /// Brings the rows up to `source`, which has only grown since the last call. `live` says
    /// whether it may grow further.
    pub fn update(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        live: bool,
        store: &mut CodeStore,
    ) {
        // A CR at the end may be half of a line end: what comes next decides.
        let source = match source.strip_suffix('\r') {
            Some(decided) if live => decided,
            _ => source,
        };
        let before = self.stats.written;
        let is_first = self.closed == 0;
        self.look_for_old_line_ends(source);
        self.rows.truncate(self.closed_rows);
        while self.step(context, source, live, store) {}
        if !live && self.rough && !is_first {
            *self = Self {
                stats: self.stats,
                ..Self::default()
            };
            self.finish(context, source, store);
        }
        if !live {
            self.rough = false;
        }
        self.stats.most = self.stats.most.max(self.stats.written - before);
    }

    /// A lone CR ends a line of markdown, but not one of ours: a text with one is written as a whole
    /// at its end.
    fn look_for_old_line_ends(&mut self, source: &str) {
        let fresh = source.as_bytes().get(self.looked..).unwrap_or_default();
        for (at, _) in fresh.iter().enumerate().filter(|(_, byte)| **byte == b'\r') {
            match fresh.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => self.rough = true,
                // What comes behind it decides.
                None => {
                    self.looked += at;
                    return;
                }
            }
        }
        self.looked = source.len();
    }

    /// Closes what can be closed and writes the rest. Answers whether there is more to do.
    fn step(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        live: bool,
        store: &mut CodeStore,
    ) -> bool {
        if matches!(self.mode, Mode::Code { .. }) {
            return self.step_code(context, source, live, store);
        }
        if !live {
            self.finish(context, source, store);
            return false;
        }
        if self.close_blocks(context, source, store) {
            return true;
        }
        if source.len() - self.closed > BOUND && self.close_piece(context, source, store) {
            return true;
        }
        self.write(context, source, source.len(), true, store);
        false
    }

    /// Writes everything that is left, for good.
    fn finish(&mut self, context: &RenderContext<'_>, source: &str, store: &mut CodeStore) {
        let written = self.write(context, source, source.len(), false, store);
        self.close(source.len(), written.gap, written.code_blocks);
    }

    /// Closes the blocks before the last one, if complete lines have come since the last look.
    fn close_blocks(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        store: &mut CodeStore,
    ) -> bool {
        let Some(line_end) = source[self.closed..]
            .rfind('\n')
            .map(|at| self.closed + at + 1)
        else {
            return false;
        };
        if line_end <= self.searched {
            return false;
        }
        self.searched = line_end;
        let open_from = self.rows.len();
        let head = self.head_len();
        let written = self.write(context, source, line_end, true, store);
        let mut from_last = written.block_starts.iter().rev();
        let last = from_last
            .find(|mark| mark.kind == BlockKind::Block)
            .copied();
        let Some(last) = last else {
            self.rows.truncate(open_from);
            return false;
        };
        if last.byte < head {
            self.rows.truncate(open_from);
            return false;
        }
        let start = self.closed + last.byte - head;
        let fence = first_line(&source[start..]).and_then(Fence::open);
        let enters_code = fence.is_some();
        if start > self.closed || enters_code {
            self.rows.truncate(last.rows);
            self.close(start, last.gap, last.code_blocks);
            if let Some(fence) = fence {
                self.enter_code(source, fence);
            }
            return true;
        }
        self.rows.truncate(open_from);
        false
    }

    /// Closes a chunk of a block that has grown too large.
    fn close_piece(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        store: &mut CodeStore,
    ) -> bool {
        let open_from = self.rows.len();
        let line_end = source[self.closed..]
            .rfind('\n')
            .map(|at| self.closed + at + 1);
        if let Some(line_end) = line_end {
            let head = self.head_len();
            let written = self.write(context, source, line_end, true, store);
            let inner = written
                .block_starts
                .iter()
                .rev()
                .find(|mark| mark.kind != BlockKind::Block);
            if let Some(mark) = inner.copied().filter(|mark| mark.byte > head) {
                self.close_inner(source, mark, head, written);
                return true;
            }
            self.rows.truncate(open_from);
        }
        // Anything else: at the end of a line, of a word, of a character.
        let open = &source[self.closed..];
        let cut = open[..open.floor_char_boundary(open.len() - 1)]
            .rfind('\n')
            .or_else(|| open.trim_end_matches(' ').rfind(' '))
            .map(|at| at + 1)
            .filter(|&cut| cut >= BOUND / 2)
            .unwrap_or_else(|| open.floor_char_boundary(open.len() - 1));
        if cut == 0 {
            return false;
        }
        let end = self.closed + cut;
        let written = self.write(context, source, end, false, store);
        self.rough = true;
        self.mode = Mode::Blocks;
        self.close(end, false, written.code_blocks);
        true
    }

    fn close_inner(&mut self, source: &str, mark: BlockStart, head: usize, written: RenderOutput) {
        let end = self.closed + mark.byte - head;
        if mark.kind == BlockKind::TableRow && matches!(self.mode, Mode::Blocks) {
            let open = &source[self.closed..end];
            let head: String = open.split_inclusive('\n').take(2).collect();
            self.mode = Mode::Table {
                head,
                widths: written.table_widths,
            };
        }
        self.rough = true;
        self.rows.truncate(mark.rows);
        self.close(end, mark.gap, mark.code_blocks);
    }

    /// Closes the lines of a code block that are complete.
    fn step_code(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        live: bool,
        store: &mut CodeStore,
    ) -> bool {
        let Mode::Code {
            fence,
            start,
            mut lines,
        } = std::mem::take(&mut self.mode)
        else {
            return false;
        };
        let before = Line::of(" ".repeat(context.margin), Style::new());
        let block = self.code_blocks;
        let mut code = |rows: &mut Vec<Row>, number, text, byte, open| {
            let code = CodeText {
                block,
                number,
                text,
                language: &fence.language,
                open,
                byte: byte as u32,
            };
            write_code(context, &before, &code, store, rows);
        };
        let mut at = self.closed;
        for line in source[self.closed..].split_inclusive('\n') {
            let complete = line.ends_with('\n') || !live;
            self.stats.written += line.len();
            if fence.is_closed_by(line) && complete {
                if lines == 0 {
                    code(&mut self.rows, 0, "", start, false);
                }
                self.close(at + line.len(), true, block + 1);
                return self.closed < source.len();
            }
            if !complete {
                self.close(at, false, block);
                if !fence.may_be_closed_by(line) {
                    let (indent, text) = fence.content(line);
                    code(&mut self.rows, lines, text, at + indent, true);
                }
                self.mode = Mode::Code {
                    fence,
                    start,
                    lines,
                };
                return false;
            }
            let (indent, text) = fence.content(line);
            code(&mut self.rows, lines, text, at + indent, false);
            lines += 1;
            at += line.len();
        }
        if !live && lines == 0 {
            code(&mut self.rows, 0, "", start, false);
        }
        self.close(at, !live, block + u32::from(!live));
        if live {
            if lines == 0 {
                code(&mut self.rows, 0, "", start, true);
            }
            self.mode = Mode::Code {
                fence,
                start,
                lines,
            };
        }
        false
    }

    fn enter_code(&mut self, source: &str, fence: Fence) {
        if std::mem::take(&mut self.gap) {
            let blank = Row::blank_after(&self.rows);
            self.rows.push(blank);
        }
        let opening = first_line(&source[self.closed..]).map_or(0, |line| line.len() + 1);
        self.mode = Mode::Code {
            start: self.closed + fence.indent,
            fence,
            lines: 0,
        };
        self.close(self.closed + opening, false, self.code_blocks);
    }

    /// Writes the source from what is closed up to `end`.
    fn write(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        end: usize,
        open: bool,
        store: &mut CodeStore,
    ) -> RenderOutput {
        let open_source = &source[self.closed..end];
        self.stats.written += open_source.len();
        let joined;
        let (text, table) = match &self.mode {
            Mode::Table { head, widths } => {
                joined = format!("{head}{open_source}");
                (joined.as_str(), Some((head.len(), widths.clone())))
            }
            _ => (open_source, None),
        };
        let chunk = Chunk {
            source: text,
            base: self.closed,
            gap: self.gap,
            code_blocks: self.code_blocks,
            open,
            table,
        };
        let written = write(context, &chunk, store, &mut self.rows);
        self.rough |= written.has_definitions;
        written
    }

    /// Everything up to here will not change any more.
    fn close(&mut self, end: usize, gap: bool, code_blocks: u32) {
        let is_continued = matches!(self.mode, Mode::Table { .. }) && !gap;
        if !is_continued {
            self.mode = match std::mem::take(&mut self.mode) {
                Mode::Table { .. } => Mode::Blocks,
                other => other,
            };
        }
        self.stats.closed += end - self.closed;
        self.closed = end;
        self.closed_rows = self.rows.len();
        self.gap = gap;
        self.code_blocks = code_blocks;
    }

    fn head_len(&self) -> usize {
        match &self.mode {
            Mode::Table { head, .. } => head.len(),
            _ => 0,
        }
    }
}

/// The first line of `text` without its end, if it is complete.
fn first_line(text: &str) -> Option<&str> {
    let end = text.find('\n')?;
    Some(text[..end].trim_end_matches('\r'))
}
