//! Code blocks: what a fence says, and what a line of code looks like.

use ratatui::style::Style;

use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::{CodeStore, mark_code};
use crate::app::tui::text::row::{Line, Row};
use crate::app::tui::text::width::width;
use crate::app::tui::text::wrap::{Break, Prefix, wrap};

/// The language an info string names: its first word, without what follows a comma or a brace.
pub fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches("{.").trim_start_matches('.');
    let end = word.find([',', '{', '}', ':']).unwrap_or(word.len());
    word[..end].to_owned()
}

/// A line of code on its way to rows.
pub struct CodeText<'a> {
    /// Number of the block within the cell.
    pub block: u32,
    /// Number of the line within the block.
    pub number: usize,
    /// The line, without its end.
    pub text: &'a str,
    pub language: &'a str,
    /// Whether the line can still grow; its colors are not looked for then.
    pub open: bool,
    pub byte: u32,
}

/// A code block being read from the parser's events.
pub struct OpenCode {
    pub is_fenced: bool,
    pub language: String,
    pub text: String,
    /// Byte of the chunk at which it begins.
    pub byte: usize,
    /// The same of each line of its text.
    pub lines: Vec<usize>,
}

impl OpenCode {
    /// Adds a chunk of the block's text that stands at byte `at` of `source`.
    pub fn push(&mut self, text: &str, at: usize, source: &str) {
        // The parser leaves the CR of an empty line out.
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
}

/// Writes one line of code, behind `before` (bars and indents of the blocks around it).
pub fn write_code(
    context: &RenderContext<'_>,
    before: &Line,
    code: &CodeText<'_>,
    store: &mut CodeStore,
    rows: &mut Vec<Row>,
) {
    let style = context.theme.code_block;
    let clean = visible_line(code.text);
    if !code.open {
        store.offer(
            (context.cell, code.block),
            code.language,
            code.number,
            &clean,
        );
    }
    let mut prefix = before.clone();
    prefix.push("  ", Style::new());
    let source = code.byte..code.byte + code.text.len() as u32;
    let line = Line::from_source(&clean, style, source);
    let first_row = rows.len();
    let prefix = Prefix::both(prefix);
    wrap(&line, &prefix, context.columns, Break::Anywhere, rows);
    let fill = Style { fg: None, ..style };
    mark_code(&mut rows[first_row..], code.block, code.number, fill);
    if code.number == 0 && rows.len() == first_row + 1 {
        label(context, code.language, &mut rows[first_row]);
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
    line.push_row(row);
    line.push(&" ".repeat(context.columns - used - need), row.fill);
    line.push(&name, context.theme.code_lang);
    row.text = line.text.into_boxed_str();
    row.runs = line.runs.into_boxed_slice();
}
