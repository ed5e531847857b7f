//! Markdown that is still streaming in. Blocks that can't change any more are written once and
//! kept; only the open block at the end is written again.
//!
//! A block is closed when complete lines show that another one begins after it: a partial line
//! (`|`, `#`) may look like a block that it won't be. Fenced code closes line by line. A block that
//! grows beyond [`MAX_OPEN`] is closed at its last line. The rest is parsed after lines that reopen
//! the block: items and quotes, the code fence, the table head. If they can't express it, the text
//! looks rough. Such a text, and one with link definitions, is written once more when complete.

use std::rc::Rc;

use super::chunk::{Chunk, LeafKind, OpenLeaf, RenderOutput};
use super::table::TableLayout;
use super::writer::write;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::HighlightCache;
use crate::app::tui::text::row_log::RowLog;

/// An open block of this many bytes is closed at a line end.
const MAX_OPEN: usize = 8 * 1024;
/// Bytes of an opening fence to keep: enough for fence and language.
const MAX_OPENING: usize = 128;
/// Bytes of reopening lines to keep, including the head of a table.
const MAX_SEAM: usize = MAX_OPEN / 4;

/// The rows of a growing markdown text.
#[derive(Debug, Default)]
pub struct MarkdownRows {
    rows: RowLog,
    /// Closed rows in the tail of `rows`, closed bytes, and closed code blocks.
    closed_rows: usize,
    closed: usize,
    code_blocks: u32,
    /// Whether the open block needs a blank row before it.
    gap: bool,
    /// Complete lines up to here were checked for closed blocks.
    searched: usize,
    /// The open block, if some of its lines are closed.
    seam: Option<Seam>,
    /// Bytes checked so far.
    decided: usize,
    /// Whether the rows may differ from those of the whole text.
    is_rough: bool,
    written: usize,
}

/// A block without its end yet. The rest is parsed after its opening lines.
#[derive(Debug)]
struct Seam {
    /// Those lines; long ones are shortened.
    opening: String,
    /// Closed lines of code; `None` for a table.
    lines: usize,
    table: Option<Rc<TableLayout>>,
}

impl Seam {
    /// Lines that reopen the block `leaf` of `text`, if possible.
    fn of(text: &str, leaf: OpenLeaf) -> Option<Self> {
        let (line_count, lines, table) = match leaf.kind {
            LeafKind::Code(lines) => (1, lines, None),
            LeafKind::Table(layout) => (2, 0, Some(layout)),
        };
        let mut opening = String::new();
        for start in leaf.around {
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            if line >= leaf.byte {
                break;
            }
            let room = (start - line).checked_sub(opening.len())?;
            if room > 4 || text[line..start].contains('\t') {
                return None;
            }
            opening.push_str(&" ".repeat(room));
            let marker = &text[start..];
            let number = marker.len()
                - marker
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .len();
            opening.push_str(marker.get(..number + 1)?);
        }
        if !opening.is_empty() {
            // An empty heading: `- - -` alone is a rule, and a table can't interrupt a paragraph.
            opening.push_str(" #\n");
        }
        let block = text[leaf.byte..].split_inclusive('\n').take(line_count);
        opening.extend(block);
        (opening.len() <= MAX_SEAM && opening.ends_with('\n')).then_some(Self {
            opening,
            lines,
            table,
        })
    }
}

/// How much of a growing text to show: no start of a table before its delimiter row, and no fence
/// before its language is complete. They would briefly look like something else.
fn decided(source: &str) -> usize {
    let start_of = |end: usize| source[..end].rfind('\n').map_or(0, |at| at + 1);
    let is_table = |line: &str| line.trim_start_matches([' ', '>']).starts_with('|');
    let last = start_of(source.len());
    let line = &source[last..];
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let line = &line[blanks.min(3)..];
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    if is_fence || (!line.is_empty() && line.bytes().all(|byte| byte == b'`')) {
        return last;
    }
    let Some(before) = last.checked_sub(1) else {
        return if is_table(&source[last..]) {
            last
        } else {
            source.len()
        };
    };
    let head = start_of(before);
    let above = head.checked_sub(1).map(|end| &source[start_of(end)..end]);
    let is_head = is_table(&source[head..before]) && !above.is_some_and(is_table);
    let may_divide = line.bytes().all(|byte| b"|:- ".contains(&byte));
    if is_head && may_divide {
        return head;
    }
    if is_table(&source[last..]) && !is_table(&source[head..before]) {
        return last;
    }
    source.len()
}

struct Input<'a> {
    context: &'a RenderContext<'a>,
    source: &'a str,
    highlights: &'a mut HighlightCache,
}

impl MarkdownRows {
    /// The rows, as of the last update.
    pub fn rows(&self) -> &RowLog {
        &self.rows
    }

    /// The number of rows that can't change any more.
    pub fn closed_rows(&self) -> usize {
        if self.is_rough {
            0
        } else {
            self.rows.packed() + self.closed_rows
        }
    }

    /// Bytes of source written so far, including repeated ones. For tests.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Updates the rows to `source`, which has only grown. `live` says whether it may grow further.
    pub fn update(
        &mut self,
        context: &RenderContext<'_>,
        source: &str,
        live: bool,
        highlights: &mut HighlightCache,
    ) {
        // A CR at the end may be half of a line end.
        let source = match source.strip_suffix('\r') {
            Some(decided) if live => decided,
            _ => source,
        };
        let in_code = self.seam.as_ref().is_some_and(|seam| seam.table.is_none());
        let source = if live && !in_code {
            self.decided = decided(source).max(self.decided).min(source.len());
            &source[..self.decided]
        } else {
            self.decided = source.len();
            source
        };
        let is_first = self.closed == 0;
        self.is_rough |= has_lone_cr(&source[self.closed..]);
        self.rows.tail().truncate(self.closed_rows);
        let mut input = Input {
            context,
            source,
            highlights,
        };
        while self.step(&mut input, live) {}
        if !live && std::mem::take(&mut self.is_rough) && !is_first {
            *self = Self {
                written: self.written,
                ..Self::default()
            };
            self.finish(&mut input);
            self.is_rough = false;
        }
    }

    /// Closes as much as possible and writes the rest. Returns whether there is more to do.
    fn step(&mut self, input: &mut Input<'_>, live: bool) -> bool {
        if !live {
            self.finish(input);
            return false;
        }
        if self.close_blocks(input) {
            return true;
        }
        if input.source.len() - self.closed > MAX_OPEN {
            self.close_lines(input);
            return true;
        }
        self.write(input, input.source.len(), true);
        false
    }

    /// Writes the rest, for good.
    fn finish(&mut self, input: &mut Input<'_>) {
        let end = input.source.len();
        let output = self.write(input, end, false);
        self.seam = None;
        self.close(end, output.gap, output.code_blocks);
    }

    /// Closes the blocks before the last one, or the new complete lines of fenced code.
    fn close_blocks(&mut self, input: &mut Input<'_>) -> bool {
        let source = input.source;
        let line_end = source[self.closed..].rfind('\n');
        let line_end = line_end.map_or(0, |at| self.closed + at + 1);
        if line_end <= self.searched {
            return false;
        }
        self.searched = line_end;
        let open_from = self.rows.tail().len();
        let base = self.base();
        let output = self.write(input, line_end, true);
        if let Some(last) = output.last_block {
            let start = base + last.byte;
            if let Some(code) = last.code.filter(|code| base + code.byte > self.closed) {
                let end = base + code.byte;
                if code.is_closed {
                    self.seam = None;
                    self.close(end, output.gap, output.code_blocks);
                    return true;
                }
                let (opening, before) = match self.seam.take() {
                    // It continues.
                    Some(open) if last.byte == 0 => (open.opening, open.lines),
                    _ => (self.opening(&source[start..]), 0),
                };
                self.seam = Some(Seam {
                    opening,
                    lines: before + code.count,
                    table: None,
                });
                self.rows.tail().truncate(code.rows);
                self.close(end, false, last.code_blocks);
                return true;
            }
            if start > self.closed {
                self.seam = None;
                self.rows.tail().truncate(last.rows);
                self.close(start, last.gap, last.code_blocks);
                return true;
            }
        }
        self.rows.tail().truncate(open_from);
        false
    }

    /// The opening line at the start of `code`, to be parsed with every update.
    fn opening(&mut self, code: &str) -> String {
        let line = code.split_inclusive('\n').next().unwrap_or_default();
        if line.len() <= MAX_OPENING {
            return line.to_owned();
        }
        self.is_rough = true;
        format!("{}\n", &line[..line.floor_char_boundary(MAX_OPENING)])
    }

    /// Closes the lines of a block that has grown too large, or else its words or characters.
    fn close_lines(&mut self, input: &mut Input<'_>) {
        let open = &input.source[self.closed..];
        let last_char = open.floor_char_boundary(open.len() - 1);
        let cut = open[..last_char]
            .rfind('\n')
            .or_else(|| open.trim_end_matches(' ').rfind(' '))
            .map(|at| at + 1)
            .filter(|&cut| cut >= MAX_OPEN / 2)
            .unwrap_or(last_char);
        let end = self.closed + cut;
        let output = self.write(input, end, false);
        let before = self.seam.take();
        let opening = before.as_ref().map_or(0, |seam| seam.opening.len());
        let text = before.as_ref().map_or("", |seam| &seam.opening).to_owned()
            + &input.source[self.closed..end];
        let is_line = text.ends_with('\n');
        let leaf = output.last_leaf;
        let is_code = matches!(&leaf, Some(leaf) if matches!(leaf.kind, LeafKind::Code(_)));
        // Once the columns of an outermost table are known, its rows are final.
        let is_exact = |leaf: &OpenLeaf| match &leaf.kind {
            LeafKind::Table(layout) => layout.is_final && leaf.around.is_empty(),
            LeafKind::Code(_) => false,
        };
        let mut is_exact = is_line && leaf.as_ref().is_some_and(is_exact);
        self.seam = match (leaf, before) {
            (Some(leaf), Some(before)) if leaf.byte < opening => Some(Seam {
                lines: match leaf.kind {
                    LeafKind::Code(lines) if is_line => lines,
                    _ => before.lines,
                },
                ..before
            }),
            (Some(leaf), _) if is_line => Seam::of(&text, leaf),
            _ => None,
        };
        is_exact &= self.seam.is_some();
        self.is_rough |= !is_exact;
        // The next chunk of fenced code continues the block, or the same line.
        let goes_on = is_code && self.seam.is_some();
        let code_blocks = output.code_blocks - u32::from(goes_on);
        self.close(end, false, code_blocks);
    }

    /// Writes the source from the closed part up to `end`.
    fn write(&mut self, input: &mut Input<'_>, end: usize, open: bool) -> RenderOutput {
        let source = input.source;
        let rest = &source[self.closed..end];
        let behind_opening;
        let (text, code_lines) = match &self.seam {
            Some(seam) => {
                behind_opening = [&seam.opening, rest].concat();
                (behind_opening.as_str(), seam.lines)
            }
            None => (rest, 0),
        };
        let chunk = Chunk {
            source: text,
            base: self.base(),
            gap: self.gap,
            code_blocks: self.code_blocks,
            code_lines,
            opening: text.len() - rest.len(),
            table: self.seam.as_ref().and_then(|seam| seam.table.clone()),
            open,
        };
        self.written += text.len();
        let output = write(input.context, &chunk, input.highlights, &mut self.rows);
        self.is_rough |= output.has_definitions;
        output
    }

    /// The start of the open part, if all of it were in one piece.
    fn base(&self) -> usize {
        self.closed - self.seam.as_ref().map_or(0, |seam| seam.opening.len())
    }

    /// Closes everything up to here.
    fn close(&mut self, end: usize, gap: bool, code_blocks: u32) {
        self.closed = end;
        let closed = self.rows.tail().len();
        self.closed_rows = self.rows.pack(closed);
        self.gap = gap;
        self.code_blocks = code_blocks;
    }
}

/// Whether it has a lone CR, which ends a line in markdown but not for us. Such a text is written
/// again as a whole at its end.
fn has_lone_cr(text: &str) -> bool {
    let bytes = text.as_bytes();
    let next = |at: usize| bytes.get(at + 1);
    memchr::memchr_iter(b'\r', bytes).any(|at| next(at).is_some_and(|&byte| byte != b'\n'))
}
