//! Markdown that is still coming in. Blocks that can no longer change are written once and kept;
//! only the open block at the end is written again.
//!
//! A block is closed when another begins after it, as far as complete lines tell: a partial line
//! (`|`, `#`) can pass for a block that it will not be. Fenced code closes line by line. A block
//! that grows beyond [`MAX_OPEN`] is closed at its last line, which may look rough at the seam;
//! such a text, and one with link definitions, is written once more when it is complete.

use super::chunk::{Chunk, RenderOutput};
use super::fence::{CodeText, Fence, write_code};
use super::writer::write;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::CodeStore;
use crate::app::tui::text::row::{Line, Row};
use ratatui::style::Style;

/// Bytes an open block may have before it is closed at a line end.
const MAX_OPEN: usize = 8 * 1024;

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
    searched_for_cr: usize,
    /// The fenced code block that is open, if one is.
    code: Option<OpenFence>,
    /// Whether the rows may differ from those of the whole text.
    is_rough: bool,
    stats: RenderStats,
}

/// Bytes of source written so far: for tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderStats {
    /// Of closed blocks, which are never written again.
    pub closed: usize,
    /// Written in total; the open block counts each time.
    pub written: usize,
    /// The most that one update wrote.
    pub most: usize,
}

/// A fenced code block whose end has not come; so many lines of it are closed.
#[derive(Debug)]
struct OpenFence {
    fence: Fence,
    /// Byte of the source at which the fence stands.
    start: usize,
    lines: usize,
}

impl MarkdownRows {
    /// The rows, as of the last update.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Bytes of source written so far.
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
        self.search_lone_cr(source);
        self.rows.truncate(self.closed_rows);
        while self.step(context, source, live, store) {}
        if !live && std::mem::take(&mut self.is_rough) && !is_first {
            *self = Self {
                stats: self.stats,
                ..Self::default()
            };
            self.finish(context, source, store);
            self.is_rough = false;
        }
        self.stats.most = self.stats.most.max(self.stats.written - before);
    }

    /// A lone CR ends a line of markdown, but not one of ours: a text with one is written as a whole
    /// at its end.
    fn search_lone_cr(&mut self, source: &str) {
        let fresh = source.as_bytes().get(self.searched_for_cr..);
        let fresh = fresh.unwrap_or_default();
        for (at, _) in fresh.iter().enumerate().filter(|(_, byte)| **byte == b'\r') {
            match fresh.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => self.is_rough = true,
                // What comes behind it decides.
                None => {
                    self.searched_for_cr += at;
                    return;
                }
            }
        }
        self.searched_for_cr = source.len();
    }

    /// Closes what can be closed and writes the rest. Answers whether there is more to do.
    fn step(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        live: bool,
        store: &mut CodeStore,
    ) -> bool {
        if let Some(code) = self.code.take() {
            return self.step_code(context, source, code, live, store);
        }
        if !live {
            self.finish(context, source, store);
            return false;
        }
        if self.close_blocks(context, source, store) {
            return true;
        }
        if source.len() - self.closed > MAX_OPEN {
            self.close_lines(context, source, store);
            return true;
        }
        self.write(context, source, source.len(), true, store);
        false
    }

    /// Writes everything that is left, for good.
    fn finish(&mut self, context: &RenderContext<'_>, source: &str, store: &mut CodeStore) {
        let output = self.write(context, source, source.len(), false, store);
        self.close(source.len(), output.gap, output.code_blocks);
    }

    /// Closes the blocks before the last one, if complete lines have come since the last look.
    fn close_blocks(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        store: &mut CodeStore,
    ) -> bool {
        let line_end = source[self.closed..].rfind('\n');
        let line_end = line_end.map_or(0, |at| self.closed + at + 1);
        if line_end <= self.searched {
            return false;
        }
        self.searched = line_end;
        let open_from = self.rows.len();
        let output = self.write(context, source, line_end, true, store);
        if let Some(last) = output.last_block {
            let start = self.closed + last.byte;
            let fence = first_line(&source[start..]).and_then(Fence::open);
            if start > self.closed || fence.is_some() {
                self.rows.truncate(last.rows);
                self.close(start, last.gap, last.code_blocks);
                if let Some(fence) = fence {
                    self.enter_code(source, fence);
                }
                return true;
            }
        }
        self.rows.truncate(open_from);
        false
    }

    /// Closes the lines of a block that has grown too large, or else its words or characters.
    fn close_lines(&mut self, context: &RenderContext<'_>, source: &str, store: &mut CodeStore) {
        let open = &source[self.closed..];
        let last_char = open.floor_char_boundary(open.len() - 1);
        let cut = open[..last_char]
            .rfind('\n')
            .or_else(|| open.trim_end_matches(' ').rfind(' '))
            .map(|at| at + 1)
            .filter(|&cut| cut >= MAX_OPEN / 2)
            .unwrap_or(last_char);
        let end = self.closed + cut;
        let output = self.write(context, source, end, false, store);
        self.is_rough = true;
        self.close(end, false, output.code_blocks);
    }

    /// Closes the lines of a fenced code block that are complete.
    fn step_code(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        mut code: OpenFence,
        live: bool,
        store: &mut CodeStore,
    ) -> bool {
        let before = Line::of(" ".repeat(context.margin), Style::new());
        let block = self.code_blocks;
        let mut write_line = |rows: &mut Vec<Row>, code: &OpenFence, text, byte: usize, open| {
            let code = CodeText {
                block,
                number: code.lines,
                text,
                language: &code.fence.language,
                open,
                byte: byte as u32,
            };
            write_code(context, &before, &code, store, rows);
        };
        let mut at = self.closed;
        let mut ended = !live;
        // The last line, which is not complete, or the only line of an empty block.
        let mut open_line = None;
        for line in source[self.closed..].split_inclusive('\n') {
            let complete = line.ends_with('\n') || !live;
            self.stats.written += line.len();
            if complete && code.fence.is_closed_by(line) {
                at += line.len();
                ended = true;
                break;
            }
            let (indent, text) = code.fence.content(line);
            if !complete {
                open_line = Some((text, at + indent, code.fence.may_be_closed_by(line)));
                break;
            }
            write_line(&mut self.rows, &code, text, at + indent, false);
            code.lines += 1;
            at += line.len();
        }
        if ended && code.lines == 0 {
            write_line(&mut self.rows, &code, "", code.start, false);
        }
        self.close(at, ended, block + u32::from(ended));
        if ended {
            return self.closed < source.len();
        }
        match open_line {
            Some((.., true)) => {}
            Some((text, byte, _)) => write_line(&mut self.rows, &code, text, byte, true),
            None if code.lines == 0 => write_line(&mut self.rows, &code, "", code.start, true),
            None => {}
        }
        self.code = Some(code);
        false
    }

    fn enter_code(&mut self, source: &str, fence: Fence) {
        if std::mem::take(&mut self.gap) {
            let blank = Row::blank_after(&self.rows);
            self.rows.push(blank);
        }
        let opening = first_line(&source[self.closed..]).map_or(0, |line| line.len() + 1);
        self.code = Some(OpenFence {
            start: self.closed + fence.indent,
            fence,
            lines: 0,
        });
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
        let chunk = Chunk {
            source: &source[self.closed..end],
            base: self.closed,
            gap: self.gap,
            code_blocks: self.code_blocks,
            open,
        };
        self.stats.written += chunk.source.len();
        let output = write(context, &chunk, store, &mut self.rows);
        self.is_rough |= output.has_definitions;
        output
    }

    /// Everything up to here will not change any more.
    fn close(&mut self, end: usize, gap: bool, code_blocks: u32) {
        self.stats.closed += end - self.closed;
        self.closed = end;
        self.closed_rows = self.rows.len();
        self.gap = gap;
        self.code_blocks = code_blocks;
    }
}

/// The first line of `text` without its end, if it is complete.
fn first_line(text: &str) -> Option<&str> {
    let end = text.find('\n')?;
    Some(text[..end].trim_end_matches('\r'))
}
