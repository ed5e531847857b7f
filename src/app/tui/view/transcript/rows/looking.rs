//! The rows of a group of look-only calls: a summary, and a row for each call or for all files.

use ratatui_core::style::Style;

use super::body;
use super::cell::LayoutOptions;
use super::title;
use crate::agent::ToolStatus;
use crate::app::humanize::plural;
use crate::app::sanitize::visible_line;
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::app::tui::text::{HighlightCache, Opens, RenderContext, Row};
use crate::app::tui::transcript::{Cell, ToolCell, ToolState};

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The summary of the group, above its first call.
    pub header: Option<Header>,
    pub row: PartRow,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartRow {
    Hidden,
    Own,
    /// One row for all files that were read, `more` of them without a name.
    Files {
        names: Vec<String>,
        more: usize,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    pub files: usize,
    pub searches: usize,
    pub folders: usize,
    pub failed: usize,
    /// Number of calls without a row.
    pub left_out: usize,
    pub is_running: bool,
}

/// Writes what `cell` shows of its group.
pub fn write(
    context: RenderContext<'_>,
    (cell, tool): (&Cell, &ToolCell),
    part: &Part,
    options: LayoutOptions<'_>,
    highlights: &mut HighlightCache,
    rows: &mut Vec<Row>,
) {
    if let Some(header) = &part.header {
        rows.push(of_group(head(context, header)));
    }
    let inside = body::below(context, tool);
    let left_out = part.header.as_ref().map_or(0, |header| header.left_out);
    if left_out > 0 {
        rows.push(of_group(earlier(inside, left_out, options.fold_key)));
    }
    match &part.row {
        PartRow::Hidden => {}
        PartRow::Own => {
            let mut line = inside.indent();
            let style = match tool.state {
                ToolState::Finished(ToolStatus::Error) => context.theme.error,
                _ => context.theme.dim,
            };
            line.push(&visible_line(&tool.name), style);
            title::push_rest(inside, tool, options.now, &mut line);
            rows.push(line.into_row());
            let nested = RenderContext {
                margin: context.margin + 2,
                ..context
            };
            let below = (cell.fold, false);
            body::write_below(nested, tool, below, options, highlights, rows);
        }
        PartRow::Files { names, more } => rows.push(of_group(files(inside, names, *more))),
    }
}

fn of_group(row: Row) -> Row {
    let opens = Opens::Group;
    Row { opens, ..row }
}

fn head(context: RenderContext<'_>, header: &Header) -> Row {
    let theme = context.theme;
    let looked = header.files + header.searches + header.folders;
    let (mark, style, name) = if header.is_running {
        ("●", theme.tool_running, "exploring")
    } else if looked == 0 {
        ("✗", theme.tool_error, "explored")
    } else if header.failed > 0 {
        ("!", theme.warning, "explored")
    } else {
        ("✓", theme.tool_ok, "explored")
    };
    let mut line = context.indent();
    line.push(mark, style);
    line.push(" ", Style::new());
    line.push(name, theme.tool_name);
    let counts = [
        (header.files, "file", "files"),
        (header.searches, "search", "searches"),
        (header.folders, "folder", "folders"),
    ];
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|&(count, one, many)| plural(count as u64, one, many))
        .collect();
    let looked = (!counts.is_empty()).then(|| (counts.join(" · "), theme.tool_summary));
    let failed = (header.failed > 0).then(|| (format!("{} failed", header.failed), theme.error));
    let mut gap = "  ";
    for (text, style) in looked.into_iter().chain(failed) {
        line.push(gap, theme.tool_summary);
        let room = context.columns.saturating_sub(width(&line.text));
        line.push(&ellipsis(&text, room), style);
        gap = " · ";
    }
    line.into_row()
}

/// The number of calls before those with a row.
fn earlier(context: RenderContext<'_>, count: usize, key: &str) -> Row {
    let mut text = format!("… {count} earlier");
    if !key.is_empty() {
        text = format!("{text} · {key}");
    }
    let context = RenderContext {
        rail: Some(context.theme.rule),
        ..context
    };
    let mut line = context.indent();
    line.push(&ellipsis(&text, context.room()), context.theme.fold_hint);
    line.into_row()
}

fn files(context: RenderContext<'_>, names: &[String], more: usize) -> Row {
    let theme = context.theme;
    let mut line = context.indent();
    line.push("read  ", theme.dim);
    for (at, name) in names.iter().enumerate() {
        let left = context.columns.saturating_sub(width(&line.text));
        let rest = names.len() - at - 1 + more;
        let (before, behind) = (usize::from(at > 0) * 3, if rest > 0 { 10 } else { 0 });
        let room = left.saturating_sub(before + behind);
        if at > 0 && width(name) > room {
            line.push(&format!(" · {} more", rest + 1), theme.dim);
            return line.into_row();
        }
        if at > 0 {
            line.push(" · ", theme.dim);
        }
        let name = ellipsis_middle(&visible_line(name), room.max(8));
        line.push(&name, theme.tool_subject);
    }
    if more > 0 {
        line.push(&format!(" · {more} more"), theme.dim);
    }
    line.into_row()
}
