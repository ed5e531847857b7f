//! The command or the diff of a call, for the user to review. Nothing is cut off at the right edge.

use ratatui_core::style::Style;

use super::line::StyledLine;
use crate::agent::tool::{Details, DiffDetails, FileChange};
use crate::app::sanitize::{revealed, visible_line};
use crate::app::tui::text::width::width;
use crate::app::tui::text::{
    Break, HighlightCache, Line, Prefix, RenderContext, diff, lines, wrap,
};
use crate::app::tui::theme::Theme;

/// Marks continuation rows of a wrapped line.
const GOES_ON: &str = "↪ ";

/// The rows so far, and how many are enough.
struct Body<'a> {
    theme: &'a Theme,
    columns: usize,
    most: usize,
    rows: Vec<StyledLine>,
    /// Rows that there was no room for.
    hidden: usize,
}

/// Returns the first rows and how many rows are left; `most - 1` rows if not all have room.
pub fn first_rows(
    theme: &Theme,
    details: &Details,
    columns: usize,
    most: usize,
) -> (Vec<StyledLine>, usize) {
    let mut body = Body {
        theme,
        columns,
        most,
        rows: Vec::new(),
        hidden: 0,
    };
    body.write(details);
    (body.rows, body.hidden)
}

impl Body<'_> {
    fn write(&mut self, details: &Details) {
        let theme = self.theme;
        match details {
            Details::Command(command) => self.text(&command.command, theme.text),
            Details::Diff(diff) => {
                for file in std::iter::once(diff).chain(&diff.files) {
                    if !diff.files.is_empty() {
                        self.push(vec![heading(theme, file)]);
                    }
                    self.diff(file);
                }
            }
            Details::Other(other) => {
                self.text(&other.title, theme.text);
                if !other.value.is_null() {
                    let value = serde_json::to_string_pretty(&other.value).unwrap_or_default();
                    self.text(&value, theme.tool_output);
                }
            }
            Details::Todo(list) => self.text(&list.markdown(), theme.text),
            Details::Text(text) => self.text(&text.path, theme.text),
            Details::Matches(matches) => {
                self.text(
                    &format!("{} in {}", matches.pattern, matches.path),
                    theme.text,
                );
            }
            Details::Files(files) => {
                let what = format!("{} in {}", files.pattern, files.path);
                self.text(what.trim_start(), theme.text);
            }
            Details::Attachment(file) => self.text(&file.path, theme.text),
        }
    }

    fn text(&mut self, text: &str, style: Style) {
        for line in text.lines() {
            let line = &revealed(line);
            if self.is_full() {
                // Not laid out, because it can be long.
                let columns = self.columns.saturating_sub(width(GOES_ON)).max(1);
                self.push_hidden(width(line).div_ceil(columns).max(1));
            } else {
                // Marks continuation rows, so that they can't pass for separate lines.
                let rest = Line::of(GOES_ON, self.theme.faint);
                let prefix = Prefix {
                    rest,
                    ..Prefix::default()
                };
                let line = Line::of(visible_line(line), style);
                let mut rows = Vec::new();
                wrap(&line, &prefix, self.columns, Break::Words, &mut rows);
                let rows = rows.iter().map(|row| StyledLine::of_row(row, self.columns));
                self.push(rows.collect());
            }
        }
    }

    fn diff(&mut self, file: &DiffDetails) {
        // Lines without room aren't laid out.
        let room = self.most.saturating_sub(self.rows.len());
        let diff = file.diff.as_str();
        let diff = &diff[if lines(diff).count() > room {
            change(diff)
        } else {
            0
        }..];
        let shown: usize = lines(diff).take(room).map(|(_, line)| line.len() + 1).sum();
        let (shown, rest) = diff.split_at(shown.min(diff.len()));
        let context = RenderContext {
            theme: self.theme,
            base: self.theme.text,
            columns: self.columns,
            margin: 0,
            rail: None,
            cell: 0,
        };
        let mut rows = Vec::new();
        let mut colors = HighlightCache::default();
        diff::write(
            &context,
            &diff::read(shown, 0),
            (0, ""),
            &mut colors,
            &mut rows,
        );
        let mut line = Vec::new();
        for row in rows {
            line.push(StyledLine::of_row(&row, self.columns));
            if !row.soft_wrap {
                self.push(std::mem::take(&mut line));
            }
        }
        self.push_hidden(lines(rest).count());
    }

    fn is_full(&self) -> bool {
        self.hidden > 0
    }

    /// Adds as many rows of one line as there is room for.
    fn push(&mut self, mut rows: Vec<StyledLine>) {
        let room = self.most.saturating_sub(self.rows.len());
        if !self.is_full() && rows.len() <= room {
            self.rows.extend(rows);
        } else if !self.is_full() && room > 0 {
            self.hidden = rows.len() - (room - 1);
            rows.truncate(room - 1);
            self.rows.extend(rows);
        } else {
            self.push_hidden(rows.len().max(1));
        }
    }

    /// Notes rows without room. One row must stay free to say so.
    fn push_hidden(&mut self, rows: usize) {
        if rows > 0 && !self.is_full() && self.rows.len() >= self.most {
            self.rows.pop();
            self.hidden = 1;
        }
        self.hidden += rows;
    }
}

/// The start of the last line before the first change in a diff.
fn change(diff: &str) -> usize {
    let mut before = 0;
    for (at, line) in lines(diff) {
        if !line.starts_with(' ') {
            break;
        }
        before = at;
    }
    before
}

/// The path of the file that the lines below belong to, and what happens to it.
fn heading(theme: &Theme, file: &DiffDetails) -> StyledLine {
    let line = StyledLine::of(revealed(&file.path), theme.strong);
    match (&file.moved_from, file.change) {
        (Some(from), _) => line.with(format!("  moved from {}", revealed(from)), theme.faint),
        (None, FileChange::Added) => line.with("  new", theme.faint),
        (None, FileChange::Deleted) => line.with("  deleted", theme.faint),
        (None, FileChange::Changed) => line,
    }
}
