//! Code blocks: what a fence says, and what a line of code looks like.

use crate::app::sanitize::visible_line;
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::row::{Line, Row};
use crate::app::tui::text::width::width;

/// Blanks that may stand before a fence.
const MAX_INDENT: usize = 3;

/// The language an info string names: its first word, without what follows a comma or a brace.
pub fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches("{.").trim_start_matches('.');
    let end = word.find([',', '{', '}', ':']).unwrap_or(word.len());
    word[..end].to_owned()
}

/// A code block being read from the parser's events.
pub struct OpenCode {
    /// Number of the block within the cell.
    pub block: u32,
    /// Lines of it that stand in an earlier chunk.
    pub lines_before: usize,
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

    /// Whether a line of it that is not complete may become its end, in a chunk with this `source`.
    pub fn may_end_with(&self, line: &str, source: &str) -> bool {
        let mark = source.as_bytes()[self.byte];
        let trimmed = line.trim_start_matches(' ');
        self.is_fenced
            && line.len() - trimmed.len() <= MAX_INDENT
            && !trimmed.is_empty()
            && trimmed.bytes().all(|byte| byte == mark)
    }
}

/// Puts the language at the right end of the block's first row, if there is room.
pub fn label(context: &RenderContext<'_>, language: &str, row: &mut Row) {
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
