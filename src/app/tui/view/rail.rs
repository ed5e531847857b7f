//! The rail at the right of a wide screen: todo list, changed files, waiting messages, if any.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};
use ratatui_core::style::Style;

use super::line::StyledLine;
use super::todo;
use crate::agent::QueueKind;
use crate::app::action::Action;
use crate::app::attachments::typed_text;
use crate::app::humanize::plural;
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::layout::RAIL_FROM;
use crate::app::tui::terminal::screen_mode::ScreenMode;
use crate::app::tui::text::width::{ellipsis, ellipsis_middle, width};
use crate::app::tui::theme::Theme;

/// Number of files listed; the latest win.
const FILES: usize = 12;
const WAITING_ROWS: usize = 2;
/// Number of waiting messages listed.
const WAITING: usize = 6;
/// Columns to the left and right of the rail.
const MARGIN: u16 = 2;

pub fn is_wanted(app: &App, size: Size) -> bool {
    let has_something =
        todo::rows_wanted(app, size) > 0 || !app.work.files.is_empty() || !app.queue.is_empty();
    app.screen == ScreenMode::Full
        && size.width >= RAIL_FROM
        && has_something
        && !app.transcript.is_empty()
}

/// Draws the rail. Parts without room are dropped from the end.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let area = Rect {
        x: area.x + MARGIN,
        width: area.width.saturating_sub(2 * MARGIN),
        ..area
    };
    let columns = usize::from(area.width);
    let parts = [
        plan(app, columns, usize::from(area.height / 2)),
        files(app, columns),
        waiting(app, columns),
    ];
    let mut y = area.y;
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        // A blank row between the parts.
        if y > area.y {
            y += 1;
        }
        for (left, right) in part {
            if y >= area.bottom() {
                return;
            }
            let end = right.width() as u16;
            left.draw(buffer, area.x, y, area.width.saturating_sub(end));
            right.draw(buffer, area.right() - end, y, end);
            y += 1;
        }
    }
}

/// The left and right parts of a row.
type Sides = (StyledLine, StyledLine);

fn heading(app: &App, title: &str, right: StyledLine) -> Sides {
    (StyledLine::of(title, app.theme.subheading), right)
}

fn plan(app: &App, columns: usize, room: usize) -> Vec<Sides> {
    let list = &app.work.todo;
    if todo::rows_wanted(app, app.size) == 0 {
        return Vec::new();
    }
    let progress = StyledLine::of(list.progress(), app.theme.dim);
    let mut rows = vec![heading(app, "todo", progress)];
    if list.is_done() && !app.opens_todo(app.size) {
        return rows;
    }
    let room = if app.opens_todo(app.size) {
        room.saturating_sub(2).max(1)
    } else {
        1
    };
    let lines = todo::lines(app, columns, room).into_iter();
    rows.extend(lines.map(|line| (line, StyledLine::new())));
    rows
}

fn files(app: &App, columns: usize) -> Vec<Sides> {
    let files = &app.work.files;
    if files.is_empty() {
        return Vec::new();
    }
    let theme = &app.theme;
    let count = plural(files.len() as u64, "file", "files");
    let mut rows = vec![heading(app, "changed", StyledLine::of(count, theme.dim))];
    // One more file takes no more room than a row that says so.
    let shown = FILES + usize::from(files.len() == FILES + 1);
    for file in files.iter().rev().take(shown) {
        let counts = counts(theme, file.added, file.removed);
        let room = columns.saturating_sub(counts.width() + 2);
        let path = visible_line(&file.path);
        let path = StyledLine::of(ellipsis_middle(&path, room), theme.text);
        rows.push((path, counts));
    }
    if files.len() > shown {
        let more = format!("… {} more", files.len() - shown);
        rows.push((StyledLine::of(more, theme.dim), StyledLine::new()));
    }
    rows
}

pub fn counts(theme: &Theme, added: u64, removed: u64) -> StyledLine {
    let mut line = StyledLine::new();
    let (green, red) = (theme.diff_added_number, theme.diff_removed_number);
    for (sign, count, style) in [("+", added, green), ("−", removed, red)] {
        if count > 0 {
            if line.width() > 0 {
                line.push(" ", Style::new());
            }
            line.push(format!("{sign}{count}"), Style { bg: None, ..style });
        }
    }
    line
}

fn waiting(app: &App, columns: usize) -> Vec<Sides> {
    if app.queue.is_empty() {
        return Vec::new();
    }
    let theme = &app.theme;
    let key = StyledLine::of(app.key(Action::TakeBack), theme.key_hint).with(" edit", theme.dim);
    let mut rows = vec![heading(app, "waiting", key)];
    for queued in app.queue.iter().take(WAITING) {
        let (mark, style) = match queued.kind {
            QueueKind::Steering => ("↳ steer ", theme.queue_steer),
            QueueKind::FollowUp => ("▸ then  ", theme.queue_follow_up),
            QueueKind::Trial => ("▸ try   ", theme.queue_follow_up),
        };
        let text = typed_text(&queued.content);
        let line = text.lines().find(|line| !line.trim().is_empty());
        let line = visible_line(line.unwrap_or("(picture)").trim()).into_owned();
        let room = columns.saturating_sub(width(mark)).max(1);
        let mut lines = StyledLine::wrapped(&line, theme.queue_text, room);
        if lines.len() > WAITING_ROWS {
            lines.truncate(WAITING_ROWS - 1);
            let shown: usize = lines.iter().map(|row| row.text().len()).sum();
            let rest = line.get(shown..).unwrap_or_default().trim_start();
            lines.push(StyledLine::of(ellipsis(rest, room), theme.queue_text));
        }
        let blank = " ".repeat(width(mark));
        for (at, text) in lines.iter().enumerate() {
            let mark = if at == 0 { mark } else { &blank };
            rows.push((StyledLine::of(mark, style).then(text), StyledLine::new()));
        }
    }
    let rest = app.queue.len().saturating_sub(WAITING);
    if rest > 0 {
        let more = StyledLine::of(format!("… {rest} more"), theme.dim);
        rows.push((more, StyledLine::new()));
    }
    rows
}
