//! What stands below a tool's title. Folded: the lines that matter most, one row each. Open: all
//! of it, wrapped.

use ratatui::style::Style;
use serde_json::Value;

use super::tool::Subject;
use crate::agent::ToolStatus;
use crate::agent::tool::{CommandDetails, Details, DiffDetails, FileChange, TextDetails};
use crate::app::tui::text::diff::{self, DiffLine, DiffPlace};
use crate::app::tui::text::markdown::Sheet;
use crate::app::tui::text::row::CodeRef;
use crate::app::tui::text::sanitize::{visible, visible_line};
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, fit};
use crate::app::tui::text::wrap::prefix_width;
use crate::app::tui::text::{Break, CodeStore, Line, Prefix, Row, width, wrap};
use crate::app::tui::transcript::{Fold, ToolCell, ToolState};

/// Lines shown of a folded cell, by kind.
pub const COMMAND_LINES: usize = 5;
/// Of a read or written file.
pub const TEXT_LINES: usize = 10;
/// Of matches.
pub const MATCH_LINES: usize = 15;
/// Of names.
pub const FILE_LINES: usize = 20;
/// Of an edit's diff, or of the diffs of all files of a patch.
pub const DIFF_LINES: usize = 60;
/// Of each of many files' diffs, however many they are.
const LEAST_DIFF_LINES: usize = 8;
/// Of a change that the model still writes, headings included: the last ones.
const DRAFT_LINES: usize = 12;

/// How a body is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// How much of it.
    pub fold: Fold,
    /// Whether the title has told all of what the call is about.
    pub subject: Subject,
    /// The key that opens it; empty when there is none.
    pub key: &'a str,
}

/// Writes what is below the title.
pub fn write(
    sheet: Sheet<'_>,
    tool: &ToolCell,
    view: View<'_>,
    store: &mut CodeStore,
    rows: &mut Vec<Row>,
) {
    let mut body = Body {
        sheet,
        fold: view.fold,
        key: view.key,
        store,
        rows,
    };
    let from_row = body.rows.len();
    match &*tool.details {
        Details::Diff(diff) if !matches!(tool.state, ToolState::Ended(_)) => body.draft(diff),
        Details::Diff(diff) if is_undone(tool, diff) => {}
        Details::Diff(diff) => {
            let limit = if tool.name == "write" {
                TEXT_LINES
            } else {
                DIFF_LINES
            };
            body.diffs(diff, limit);
        }
        Details::Command(command) => body.command(command, view.subject),
        Details::Matches(matches) => body.matches(&matches.lines),
        Details::Files(files) => body.lines(
            files.files.iter().map(String::as_str),
            files.files.len(),
            FILE_LINES,
        ),
        Details::Text(text) => body.text(text),
        Details::Attachment(file) => body.lines(
            file.description.lines(),
            file.description.lines().count(),
            TEXT_LINES,
        ),
        Details::Other(other) => body.other(&other.value),
    }
    let silent = body.rows.len() == from_row;
    if let ToolState::Ended(status) = tool.state {
        let said = failure(tool, silent);
        body.failure(said, failure_style(sheet, status));
    }
}

/// Whether a change came to nothing: then its files are no result.
fn is_undone(tool: &ToolCell, first: &DiffDetails) -> bool {
    let mut files = std::iter::once(first).chain(&first.files);
    tool.state != ToolState::Ended(ToolStatus::Ok) && files.all(|file| file.diff.is_empty())
}

/// What the model was told of a call that did not come to a good end, as far as the rows of the
/// details do not say it already.
fn failure(tool: &ToolCell, silent: bool) -> &str {
    let first_line = tool.failure.lines().next().unwrap_or_default();
    match (tool.state, &*tool.details) {
        _ if silent => &tool.failure,
        // What stands there is what the model asked for, not what came of it.
        (ToolState::Ended(ToolStatus::Error), Details::Other(_)) => &tool.failure,
        // Its output stands there, its end in the title.
        (ToolState::Ended(ToolStatus::Error), Details::Command(_)) => "",
        // A call that was cut short: why, then the output that stands there already.
        _ => first_line,
    }
}

fn failure_style(sheet: Sheet<'_>, status: ToolStatus) -> Style {
    match status {
        ToolStatus::Ok | ToolStatus::Error => sheet.theme.error,
        ToolStatus::Skipped | ToolStatus::Cancelled => sheet.theme.tool_skipped,
    }
}

struct Body<'a> {
    sheet: Sheet<'a>,
    fold: Fold,
    key: &'a str,
    store: &'a mut CodeStore,
    rows: &'a mut Vec<Row>,
}

impl Body<'_> {
    fn limit(&self, folded: usize) -> usize {
        match self.fold {
            Fold::Folded => folded,
            Fold::Open => usize::MAX,
        }
    }

    /// The first lines of `count`, and how many are left.
    fn lines<'t>(&mut self, lines: impl Iterator<Item = &'t str>, count: usize, folded: usize) {
        let limit = self.limit(folded);
        // One more line costs no more than a row saying that there is one more.
        let limit = if count == limit.saturating_add(1) {
            count
        } else {
            limit
        };
        for (index, line) in lines.take(limit).enumerate() {
            self.line(index, line, self.sheet.theme.tool_output);
        }
        self.hint_more(count.saturating_sub(limit));
    }

    fn hint_more(&mut self, count: usize) {
        if count > 0 {
            let noun = if count == 1 { "line" } else { "lines" };
            self.folded(&format!("… {count} more {noun}"));
        }
    }

    /// Says what is folded away, and the key that opens it.
    fn folded(&mut self, text: &str) {
        if self.key.is_empty() {
            self.hint(text);
        } else {
            self.hint(&format!("{text} · {}", self.key));
        }
    }

    fn hint(&mut self, text: &str) {
        let byte = self.rows.last().map_or(0, |row| row.byte);
        let mut line = Line::of(" ".repeat(self.sheet.margin), Style::new());
        let room = self.sheet.columns.saturating_sub(self.sheet.margin);
        line.push(&ellipsis(text, room), self.sheet.theme.fold_hint);
        line.byte = byte;
        self.rows.push(line.into_row());
    }

    /// One line of output: one row when folded, wrapped when open.
    fn line(&mut self, index: usize, text: &str, style: Style) {
        let clean = visible_line(text);
        let line = Line::of(clean.into_owned(), style);
        self.styled(index, line);
    }

    fn styled(&mut self, index: usize, line: Line) {
        let margin = Line::of(" ".repeat(self.sheet.margin), Style::new());
        let from_row = self.rows.len();
        match self.fold {
            Fold::Open => wrap(
                &line,
                &Prefix::both(margin),
                self.sheet.columns,
                Break::Anywhere,
                self.rows,
            ),
            Fold::Folded => {
                let room = self.sheet.columns.saturating_sub(self.sheet.margin).max(1);
                let mut out = margin;
                if width_exceeds(&line.text, room) {
                    let (head, _) = fit(&line.text, room - 1);
                    out.push_part(&line, 0..head.len());
                    out.push("…", self.sheet.theme.faint);
                } else {
                    out.push_part(&line, 0..line.text.len());
                }
                self.rows.push(out.into_row());
            }
        }
        for row in &mut self.rows[from_row..] {
            row.byte = index as u32;
        }
    }

    fn command(&mut self, command: &CommandDetails, subject: Subject) {
        if self.fold == Fold::Open && subject == Subject::Cut {
            for line in command.command.trim().lines() {
                self.line(0, &format!("$ {line}"), self.sheet.theme.text);
            }
        }
        let output = command.output.trim_end_matches('\n');
        let lines: Vec<&str> = if output.is_empty() {
            Vec::new()
        } else {
            output.split('\n').collect()
        };
        let limit = self.limit(COMMAND_LINES);
        let limit = if lines.len() == limit.saturating_add(1) {
            lines.len()
        } else {
            limit
        };
        let skipped = lines.len().saturating_sub(limit);
        // The live tail holds the last lines only; the count knows of those before.
        let earlier = (command.total_lines as usize).max(lines.len()) - (lines.len() - skipped);
        if earlier > 0 && (skipped > 0 || command.duration_ms.is_none()) {
            let noun = if earlier == 1 { "line" } else { "lines" };
            let text = format!("… {earlier} earlier {noun}");
            if skipped > 0 {
                self.folded(&text);
            } else {
                self.hint(&text);
            }
        }
        for (index, line) in lines.iter().enumerate().skip(skipped) {
            self.line(index, line, self.sheet.theme.tool_output);
        }
        let full = command
            .full_output_path
            .as_ref()
            .filter(|_| command.truncated);
        if let Some(path) = full.filter(|_| self.fold == Fold::Open) {
            self.hint(&format!("full output: {}", visible_line(path)));
        }
        if !command.still_running.is_empty() {
            let text = format!("still running: {}", command.still_running.join(", "));
            self.line(lines.len(), &text, self.sheet.theme.warning);
        }
    }

    fn matches(&mut self, lines: &[String]) {
        let limit = self.limit(MATCH_LINES);
        let limit = if lines.len() == limit.saturating_add(1) {
            lines.len()
        } else {
            limit
        };
        for (index, line) in lines.iter().take(limit).enumerate() {
            let clean = visible_line(line);
            let place = location_len(&clean);
            let mut styled = Line::of(&clean[..place], self.sheet.theme.match_location);
            styled.push(&clean[place..], self.sheet.theme.tool_output);
            self.styled(index, styled);
        }
        self.hint_more(lines.len().saturating_sub(limit));
    }

    fn diffs(&mut self, first: &DiffDetails, folded: usize) {
        let files = 1 + first.files.len();
        let folded = (folded / files).max(LEAST_DIFF_LINES.min(folded));
        for (block, file) in std::iter::once(first).chain(&first.files).enumerate() {
            if files > 1 {
                self.file(file);
            }
            let lines = diff::read(&file.diff);
            let limit = self.limit(folded);
            let limit = if lines.len() == limit.saturating_add(1) {
                lines.len()
            } else {
                limit
            };
            let shown = &lines[..lines.len().min(limit)];
            self.diff_lines(shown, extension(&file.path), block as u32);
            self.hint_more(lines.len() - shown.len());
        }
    }

    /// A change as far as the model has written it: the last lines, each file under its heading.
    fn draft(&mut self, first: &DiffDetails) {
        let mut room = self.limit(DRAFT_LINES);
        let mut shown = Vec::new();
        for file in first.files.iter().rev().chain([first]) {
            let lines = memchr::memrchr_iter(b'\n', file.diff.as_bytes()).map(|at| at + 1);
            let start = lines.take(room).nth(room.saturating_sub(1)).unwrap_or(0);
            let lines = diff::read(&file.diff[start..]);
            room = room.saturating_sub(lines.len() + 1);
            shown.push((file, lines));
            if room == 0 {
                break;
            }
        }
        for (file, lines) in shown.into_iter().rev() {
            if !first.files.is_empty() {
                self.file(file);
            }
            // Its lines move up as it grows: colours found for one would stand in another.
            self.diff_lines(&lines, "", 0);
        }
    }

    fn diff_lines(&mut self, lines: &[DiffLine], language: &str, block: u32) {
        let place = DiffPlace { language, block };
        // Signs stand in the margin, so that numbers line up with the output of other tools.
        let sheet = Sheet {
            margin: self.sheet.margin.saturating_sub(2),
            ..self.sheet
        };
        diff::write(&sheet, lines, place, self.store, self.rows);
    }

    /// The heading of one of several files: its path, what becomes of it, how much changes.
    fn file(&mut self, file: &DiffDetails) {
        let theme = self.sheet.theme;
        let (counts, tone) = super::tool::counts(file.added, file.removed);
        let gap = if counts.is_empty() { "" } else { "  " };
        let what = match (&file.moved_from, file.change) {
            (Some(from), _) => format!("  moved from {}", visible_line(from)),
            (None, FileChange::Added) => "  new".to_owned(),
            (None, FileChange::Deleted) => "  deleted".to_owned(),
            (None, FileChange::Changed) => String::new(),
        };
        let mut line = Line::of(" ".repeat(self.sheet.margin), Style::new());
        let room = self.sheet.columns.saturating_sub(self.sheet.margin);
        let room = room.saturating_sub(width(&what) + width(gap) + width(&counts));
        line.push(
            &ellipsis_middle(&visible_line(&file.path), room.max(8)),
            theme.subheading,
        );
        line.push(&what, theme.faint);
        line.push(gap, Style::new());
        super::tool::push_summary(self.sheet, &mut line, &(counts, tone));
        self.rows.push(line.into_row());
    }

    fn text(&mut self, text: &TextDetails) {
        let count = text.text.lines().count();
        if text.first_line == 0 {
            self.lines(text.text.lines(), count, TEXT_LINES);
            return;
        }
        let limit = self.limit(TEXT_LINES);
        let limit = if count == limit.saturating_add(1) {
            count
        } else {
            limit
        };
        let last = text.first_line + count as u64;
        let numbers = last.to_string().len();
        for (index, line) in text.text.lines().take(limit).enumerate() {
            let clean = visible_line(line);
            self.store
                .offer((self.sheet.cell, 0), extension(&text.path), index, &clean);
            let mut first = Line::of(" ".repeat(self.sheet.margin), Style::new());
            let number = text.first_line + index as u64;
            first.push(
                &format!("{number:>numbers$}  "),
                self.sheet.theme.line_number,
            );
            let rest = Line::of(" ".repeat(self.sheet.margin + numbers + 2), Style::new());
            self.numbered(index, &clean, Prefix { first, rest });
        }
        self.hint_more(count.saturating_sub(limit));
    }

    fn numbered(&mut self, index: usize, text: &str, prefix: Prefix) {
        let columns = self.sheet.columns;
        let gutter = prefix_width(&prefix.first, columns);
        let room = columns.saturating_sub(gutter).max(2);
        let is_cut = self.fold == Fold::Folded && width_exceeds(text, room);
        let kept = if is_cut { fit(text, room - 1).0 } else { text };
        let mut line = Line::of(kept, self.sheet.theme.tool_output);
        if is_cut {
            line.push("…", self.sheet.theme.faint);
        }
        let from_row = self.rows.len();
        wrap(&line, &prefix, columns, Break::Anywhere, self.rows);
        let mut from = 0;
        for row in &mut self.rows[from_row..] {
            let at = fit(&row.text, gutter).0.len();
            let len = (row.text.len() - at).min(kept.len() - from as usize);
            row.byte = index as u32;
            row.code = Some(CodeRef {
                block: 0,
                line: index as u32,
                at: at as u32,
                from,
                len: len as u32,
            });
            from += len as u32;
        }
    }

    fn other(&mut self, value: &Value) {
        let text = match value {
            Value::Null => return,
            Value::String(text) => text.clone(),
            value => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        self.lines(text.lines(), text.lines().count(), TEXT_LINES);
    }

    fn failure(&mut self, text: &str, style: Style) {
        let limit = self.limit(TEXT_LINES);
        let clean = visible(text);
        let count = clean.lines().count();
        let margin = Prefix::both(Line::of(" ".repeat(self.sheet.margin), Style::new()));
        for (index, line) in clean.lines().take(limit).enumerate() {
            // The first line says what went wrong; the rest is there to look at.
            let style = match index {
                0 => style,
                _ => self.sheet.theme.tool_output,
            };
            let mut line = Line::of(line, style);
            line.byte = index as u32;
            wrap(&line, &margin, self.sheet.columns, Break::Words, self.rows);
        }
        self.hint_more(count.saturating_sub(limit));
    }
}

/// Whether `text` needs more than `columns`; looks no further than it must.
fn width_exceeds(text: &str, columns: usize) -> bool {
    let (head, _) = fit_bounded(text, columns);
    head.len() < text.len()
}

fn fit_bounded(text: &str, columns: usize) -> (&str, usize) {
    // A megabyte on one line must not be measured to show eighty columns of it.
    let bound = text.floor_char_boundary(columns.saturating_mul(8).saturating_add(64));
    if width(&text[..bound]) > columns {
        fit(&text[..bound], columns)
    } else {
        (&text[..bound], columns)
    }
}

/// Bytes of `path:line:` or `path-line-` before the text of a match.
fn location_len(line: &str) -> usize {
    for mark in [':', '-'] {
        for (at, _) in line.match_indices(mark) {
            let digits = line[at + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 0 && line[at + 1 + digits..].starts_with(mark) {
                return at + 2 + digits;
            }
        }
    }
    0
}

/// What a file's name says about its language.
fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => name,
    }
}
