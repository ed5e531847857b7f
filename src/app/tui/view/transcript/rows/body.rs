//! The rows below a tool's title. Folded: the most important lines, a row each. Open: all, wrapped.

use ratatui_core::style::Style;

use super::LayoutOptions;
use super::pieces::{extension, kept_bytes, location_len};
use super::shape::{failure, failure_style, is_draft, is_one_line, is_running, is_undone, rail};
use super::title;
use crate::agent::TodoDetails;
use crate::agent::tool::{CommandDetails, Details, DiffDetails, FileChange, TextDetails};
use crate::app::sanitize::{visible, visible_line};
use crate::app::tui::text::RenderContext;
use crate::app::tui::text::code::mark_code;
use crate::app::tui::text::diff::{self, DiffLine, Sign};
use crate::app::tui::text::row::end_of;
use crate::app::tui::text::width::{ellipsis, ellipsis_middle};
use crate::app::tui::text::wrap::prefix_width;
use crate::app::tui::text::{
    Break, Fill, HighlightCache, Line, Opens, Prefix, Row, lines, width, wrap,
};
use crate::app::tui::theme::todo_mark;
use crate::app::tui::transcript::{Fold, ToolCell, ToolState};

/// Bytes of the checkbox before a markdown list item.
const BOX: usize = "- [ ] ".len();
/// Lines shown of a folded cell, by kind.
pub const COMMAND_LINES: usize = 5;
/// For a file that was read or written.
pub const TEXT_LINES: usize = 10;
pub const MATCH_LINES: usize = 15;
pub const FILE_LINES: usize = 20;
/// For a new file.
pub const NEW_LINES: usize = 3;
/// For an edit's diff, or all diffs of a patch together.
pub const DIFF_LINES: usize = 60;
/// Minimum for each file of a patch with many files.
const MIN_DIFF_LINES: usize = 8;
/// For a change the model is still writing, including headings: the last lines.
const DRAFT_LINES: usize = 12;

/// Writes a tool cell: the title and the rows below it.
pub fn write(
    context: RenderContext<'_>,
    tool: &ToolCell,
    fold: Fold,
    options: LayoutOptions<'_>,
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) {
    let subject_cut = title::write(context, tool, options.now, rows);
    write_below(
        context,
        tool,
        (fold, subject_cut),
        options,
        highlights,
        rows,
    );
}

/// Writes the rows below the title, which is the last row so far.
pub fn write_below(
    context: RenderContext<'_>,
    tool: &ToolCell,
    (fold, subject_cut): (Fold, bool),
    options: LayoutOptions<'_>,
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) {
    let title = rows.len() - 1;
    if is_one_line(tool, fold, options.previews(tool)) {
        let is_brief = tool.looks() || matches!(*tool.details, Details::Todo(_));
        if is_brief && tool.has_source() {
            rows[title].opens = Opens::Cell;
        }
        return;
    }
    let context = below(context, tool);
    let source = tool.source();
    let mut body = Body {
        context,
        fold,
        key: options.fold_key,
        source: &source,
        highlights,
        rows,
        hides: false,
    };
    let from_row = body.rows.len();
    match &*tool.details {
        Details::Diff(diff) if is_draft(tool, diff) => body.draft(diff, tool.makes_a_file()),
        // The question strip shows it while the question is open.
        Details::Diff(_) if is_running(tool) && fold == Fold::Folded => {}
        Details::Diff(diff) if is_undone(tool, diff) => {}
        Details::Diff(diff) if tool.makes_a_file() => body.new_file(diff),
        Details::Diff(diff) => body.diffs(diff, DIFF_LINES),
        Details::Command(command) => body.command(command, subject_cut),
        Details::Matches(_) => body.matches(),
        Details::Files(_) => body.lines(FILE_LINES),
        Details::Text(text) if text.first_line > 0 => body.numbered_lines(text),
        Details::Text(text) if text.text.is_empty() && options.pictures.is_some() => {}
        Details::Todo(list) => body.todo(list),
        Details::Text(_) | Details::Attachment(_) | Details::Other(_) => body.lines(TEXT_LINES),
    }
    let is_silent = body.rows.len() == from_row;
    if let ToolState::Finished(status) = tool.state {
        let failure = failure(tool, is_silent);
        if !body.rows[title].text.contains(failure) {
            body.failure(failure, failure_style(context, status));
        }
    }
    if body.hides || fold == Fold::Open {
        rows[title].opens = Opens::Cell;
    }
}

/// The rows below the title of a call are indented along a line.
pub fn below<'a>(context: RenderContext<'a>, tool: &ToolCell) -> RenderContext<'a> {
    RenderContext {
        margin: context.margin + if context.columns < 30 { 1 } else { 4 },
        rail: Some(rail(context, tool)),
        ..context
    }
}

struct Body<'a> {
    context: RenderContext<'a>,
    fold: Fold,
    key: &'a str,
    /// The text that the rows refer to, see `ToolCell::source`.
    source: &'a str,
    highlights: &'a mut HighlightCache,
    rows: &'a mut Vec<Row>,
    /// Whether opening the cell would show more.
    hides: bool,
}

impl<'a> Body<'a> {
    /// Returns how many of `count` lines are shown if a folded cell shows `folded` lines.
    fn shown(&self, count: usize, folded: usize) -> usize {
        match self.fold {
            Fold::Open => count,
            // One more line takes no more room than a row that says so.
            Fold::Folded if count == folded + 1 => count,
            Fold::Folded => count.min(folded),
        }
    }

    /// Writes the first lines of the source in one style.
    fn lines(&mut self, folded: usize) {
        self.first_lines(folded, |body, at, line| {
            body.line(at, line, body.context.theme.tool_output);
        });
    }

    /// Writes the first lines of the source, and the number of lines left.
    fn first_lines(&mut self, folded: usize, mut write: impl FnMut(&mut Self, usize, &'a str)) {
        let count = lines(self.source).count();
        let shown = self.shown(count, folded);
        for (at, line) in lines(self.source).take(shown) {
            write(self, at, line);
        }
        self.hint_more(count - shown);
    }

    fn hint_more(&mut self, count: usize) {
        if count > 0 {
            self.folded(&format!("… {count} more"));
        }
    }

    /// Writes how much is folded, and the key that opens it.
    fn folded(&mut self, text: &str) {
        if self.key.is_empty() {
            self.hint(text);
        } else {
            self.hint(&format!("{text} · {}", self.key));
        }
        self.hides = true;
        if let Some(row) = self.rows.last_mut() {
            row.opens = Opens::Cell;
        }
    }

    fn hint(&mut self, text: &str) {
        let mut line = self.context.indent();
        let text = ellipsis(text, self.context.room());
        line.push(&text, self.context.theme.fold_hint);
        self.push(line);
    }

    /// Adds a row that doesn't come from the source.
    fn push(&mut self, mut line: Line) {
        line.end_at(end_of(self.rows));
        self.rows.push(line.into_row());
    }

    /// Adds a line of the source that begins at byte `at`: one row if folded, wrapped if open.
    fn line(&mut self, at: usize, text: &str, style: Style) {
        self.styled(Line::visible(text, style, at as u32));
    }

    fn styled(&mut self, line: Line) {
        let indent = self.context.indent();
        self.behind(&Prefix::both(indent), line);
    }

    /// Adds a line after its prefix: one row if folded, wrapped if open.
    fn behind(&mut self, prefix: &Prefix, mut line: Line) {
        let columns = self.context.columns;
        if self.fold == Fold::Folded {
            let room = columns.saturating_sub(prefix_width(&prefix.first, columns));
            let kept = kept_bytes(&line.text, room.max(2));
            if kept < line.text.len() {
                line = line.up_to(kept);
                line.push("…", self.context.theme.faint);
                self.hides = true;
            }
        }
        wrap(&line, prefix, columns, Break::Anywhere, self.rows);
    }

    fn command(&mut self, command: &CommandDetails, subject_cut: bool) {
        self.hides |= subject_cut;
        if self.fold == Fold::Open && subject_cut {
            for (at, line) in command.command.trim().lines().enumerate() {
                let line = visible_line(line);
                let mark = if at == 0 { "$ " } else { "  " };
                self.styled(Line::of(format!("{mark}{line}"), self.context.theme.text));
            }
        }
        let output = self.source.trim_end_matches('\n');
        let count = lines(output).count();
        let skipped = count - self.shown(count, COMMAND_LINES);
        // The live tail has only the last lines; the counter includes the earlier ones.
        let earlier = (command.total_lines as usize).max(count) - (count - skipped);
        if earlier > 0 && (skipped > 0 || command.duration_ms.is_none()) {
            let earlier = format!("… {earlier} earlier");
            if skipped > 0 {
                self.folded(&earlier);
            } else {
                self.hint(&earlier);
            }
        }
        for (at, line) in lines(output).skip(skipped) {
            self.line(at, line, self.context.theme.tool_output);
        }
        let full = command
            .full_output_path
            .as_ref()
            .filter(|_| command.truncated);
        if let Some(path) = full.filter(|_| self.fold == Fold::Open) {
            self.hint(&format!("full output: {}", visible_line(path)));
        }
        let running = (!command.still_running.is_empty())
            .then(|| format!("still running: {}", command.still_running.join(", ")));
        for text in running.iter().chain(&command.note) {
            let mut line = Line::of(visible_line(text), self.context.theme.warning);
            line.end_at(end_of(self.rows));
            self.styled(line);
        }
    }

    /// Writes the todo list with the same marks as above the editor.
    fn todo(&mut self, list: &TodoDetails) {
        for ((at, line), item) in lines(self.source).zip(&list.items) {
            let theme = self.context.theme;
            let (mark, mark_style, style) = todo_mark(theme, item.status);
            let mut prefix = self.context.indent();
            prefix.push(mark, mark_style);
            let mut rest = self.context.indent();
            rest.push("  ", Style::new());
            let begin = line.floor_char_boundary(BOX);
            let text = Line::visible(&line[begin..], style, (at + begin) as u32);
            let prefix = Prefix {
                first: prefix,
                rest,
            };
            self.behind(&prefix, text);
        }
    }

    fn matches(&mut self) {
        self.first_lines(MATCH_LINES, |body, at, line| {
            let theme = body.context.theme;
            let (location, text) = line.split_at(location_len(line));
            let mut styled = Line::visible(location, theme.match_location, at as u32);
            styled.push_visible(text, theme.tool_output, (at + location.len()) as u32);
            body.styled(styled);
        });
    }

    fn diffs(&mut self, first: &DiffDetails, folded: usize) {
        let files = 1 + first.files.len();
        let folded = (folded / files).max(MIN_DIFF_LINES.min(folded));
        let mut base = 0;
        for (block, file) in std::iter::once(first).chain(&first.files).enumerate() {
            if files > 1 {
                self.file(file);
            }
            let lines = diff::read(&file.diff, base);
            base += file.diff.len() + 1;
            let shown = self.shown(lines.len(), folded);
            self.diff_lines(&lines[..shown], extension(&file.path), block as u32);
            self.hint_more(lines.len() - shown);
        }
    }

    /// Writes the first lines of a new file. They need no background, because all of them are new.
    fn new_file(&mut self, file: &DiffDetails) {
        let mut lines = diff::read(&file.diff, 0);
        without_signs(&mut lines);
        let shown = self.shown(lines.len(), NEW_LINES);
        self.diff_lines(&lines[..shown], extension(&file.path), 0);
        self.hint_more(lines.len() - shown);
    }

    /// Writes the last lines of an unfinished change, each file under its heading.
    fn draft(&mut self, first: &DiffDetails, is_new: bool) {
        let mut room = match self.fold {
            Fold::Folded => DRAFT_LINES,
            Fold::Open => usize::MAX,
        };
        let mut shown = Vec::new();
        let mut end = self.source.len();
        for file in first.files.iter().rev().chain([first]) {
            let base = end - file.diff.len();
            let line_starts = memchr::memrchr_iter(b'\n', file.diff.as_bytes()).map(|at| at + 1);
            let start = line_starts
                .take(room)
                .nth(room.saturating_sub(1))
                .unwrap_or(0);
            let lines = diff::read(&file.diff[start..], base + start);
            room = room.saturating_sub(lines.len() + 1);
            end = base.saturating_sub(1);
            shown.push((file, lines));
            if room == 0 {
                break;
            }
        }
        for (file, mut lines) in shown.into_iter().rev() {
            if is_new {
                without_signs(&mut lines);
            }
            if !first.files.is_empty() {
                self.file(file);
            }
            // No cached colors: the lines move up as the text grows, so they would color other lines.
            self.diff_lines(&lines, "", 0);
        }
    }

    fn diff_lines(&mut self, lines: &[DiffLine], language: &str, block: u32) {
        diff::write(
            &self.context,
            lines,
            (block, language),
            self.highlights,
            self.rows,
        );
    }

    /// Writes the heading of one of several files: path, kind of change, number of lines.
    fn file(&mut self, file: &DiffDetails) {
        let theme = self.context.theme;
        let (counts, tone) = title::counts(file.added, file.removed);
        let gap = if counts.is_empty() { "" } else { "  " };
        let what = match (&file.moved_from, file.change) {
            (Some(from), _) => format!("  moved from {}", visible_line(from)),
            (None, FileChange::Added) => "  new".to_owned(),
            (None, FileChange::Deleted) => "  deleted".to_owned(),
            (None, FileChange::Changed) => String::new(),
        };
        let mut line = self.context.indent();
        let room = self
            .context
            .room()
            .saturating_sub(width(&what) + width(gap) + width(&counts));
        line.push(
            &ellipsis_middle(&visible_line(&file.path), room.max(8)),
            theme.subheading,
        );
        line.push(&what, theme.faint);
        line.push(gap, Style::new());
        title::push_summary(self.context, &mut line, &(counts, tone));
        self.push(line);
    }

    fn numbered_lines(&mut self, text: &TextDetails) {
        let last = text.first_line + lines(self.source).count() as u64;
        let digits = last.to_string().len();
        let mut index = 0;
        self.first_lines(TEXT_LINES, |body, at, line| {
            let number = format!("{:>digits$}  ", text.first_line + index as u64);
            let clean = visible_line(line);
            body.highlights.queue_line(
                (body.context.cell, 0),
                extension(&text.path),
                index,
                &clean,
            );
            body.numbered(index, &number, line, at as u32);
            index += 1;
        });
    }

    fn numbered(&mut self, index: usize, number: &str, text: &str, at: u32) {
        let theme = self.context.theme;
        let mut first = self.context.indent();
        first.push(number, theme.line_number);
        let rest = Line::of(" ".repeat(width(&first.text)), Style::new());
        let from_row = self.rows.len();
        let line = Line::visible(text, theme.tool_output, at);
        self.behind(&Prefix { first, rest }, line);
        mark_code(&mut self.rows[from_row..], 0, index, Fill::default());
    }

    fn failure(&mut self, text: &str, style: Style) {
        let clean = visible(text);
        let count = clean.lines().count();
        let shown = match self.fold {
            Fold::Folded => count.min(TEXT_LINES),
            Fold::Open => count,
        };
        let margin = Prefix::both(self.context.indent());
        for (index, line) in clean.lines().take(shown).enumerate() {
            // The first line is the error; the rest is detail.
            let style = match index {
                0 => style,
                _ => self.context.theme.tool_output,
            };
            let mut line = Line::of(line, style);
            line.end_at(end_of(self.rows));
            wrap(
                &line,
                &margin,
                self.context.columns,
                Break::Words,
                self.rows,
            );
        }
        self.hint_more(count - shown);
    }
}

/// If all lines are new, they need no signs.
fn without_signs(lines: &mut [DiffLine]) {
    for line in lines {
        line.sign = Sign::Context;
    }
}
