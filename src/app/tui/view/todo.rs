//! The todo list above the editor: current and next items, and the progress. It takes several rows
//! if there is room, otherwise one, and none when all items are done.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};

use super::line::StyledLine;
use crate::agent::{TodoDetails, TodoItem, TodoStatus};
use crate::app::action::Action;
use crate::app::sanitize::visible_line;
use crate::app::tui::app::App;
use crate::app::tui::text::width::ellipsis;
use crate::app::tui::theme::{Theme, todo_mark};

const ROWS: usize = 5;
/// Minimum columns to show the key that folds the list.
const KEY_FROM: u16 = 60;

/// Returns the rows the list wants on a screen of this size.
pub fn rows_wanted(app: &App, size: Size) -> u16 {
    let list = &app.work.todo;
    if list.items.is_empty() || list.is_done() && !app.is_running() {
        return 0;
    }
    if list.is_done() || !app.opens_todo(size) {
        return 1;
    }
    list.items.len().min(ROWS) as u16
}

pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let columns = usize::from(area.width).saturating_sub(2);
    let lines = lines(app, columns, usize::from(area.height));
    let mut right = aside(app, area);
    for (row, line) in area.rows().zip(&lines) {
        StyledLine::draw_both(line, &right, row, buffer);
        right = StyledLine::new();
    }
}

pub fn lines(app: &App, columns: usize, room: usize) -> Vec<StyledLine> {
    let (theme, list) = (&app.theme, &app.work.todo);
    match room {
        0 | 1 => vec![current(theme, list, columns)],
        _ => rows(theme, list, columns, room),
    }
}

/// The progress, and the key that opens or folds the list.
fn aside(app: &App, area: Rect) -> StyledLine {
    let list = &app.work.todo;
    let theme = &app.theme;
    let mut line = StyledLine::new();
    // If completed items have a row, that row shows the progress.
    let is_whole = usize::from(area.height) == list.items.len();
    if !list.is_done() && (is_whole || area.height == 1) {
        line.push(list.progress(), theme.dim);
    }
    let has_room = area.height > 1 || !app.opens_todo(app.size);
    if area.width >= KEY_FROM && has_room && list.items.len() > 1 && !list.is_done() {
        let does = if area.height == 1 { " opens" } else { " folds" };
        line.push("  ", theme.dim);
        line.push(app.key(Action::ToggleTodo), theme.key_hint);
        line.push(does, theme.dim);
    }
    line
}

/// The list in several rows. Completed items are dropped first, then the last ones.
fn rows(theme: &Theme, list: &TodoDetails, columns: usize, room: usize) -> Vec<StyledLine> {
    let note = |text: String| StyledLine::of(ellipsis(&text, columns), theme.dim);
    let (mut lines, mut items) = (Vec::new(), Vec::from_iter(&list.items));
    if items.len() > room {
        items.retain(|item| item.status != TodoStatus::Completed);
        if items.len() < list.items.len() {
            let done = note(list.progress());
            let (mark, style, _) = todo_mark(theme, TodoStatus::Completed);
            lines.push(StyledLine::of(mark, style).then(&done));
        }
        // The current item may come after pending ones.
        items.sort_by_key(|item| item.status != TodoStatus::InProgress);
    }
    let left = room.saturating_sub(lines.len());
    let shown = if items.len() > left {
        left.saturating_sub(1)
    } else {
        items.len()
    };
    lines.extend(items[..shown].iter().map(|it| row(theme, it, columns)));
    if shown < items.len() {
        lines.push(note(format!("  … {} more", items.len() - shown)));
    }
    lines
}

fn current(theme: &Theme, list: &TodoDetails, columns: usize) -> StyledLine {
    match list.current() {
        Some(item) => row(theme, item, columns),
        None => {
            let (mark, style, text) = todo_mark(theme, TodoStatus::Completed);
            StyledLine::of(mark, style).with(list.progress(), text)
        }
    }
}

fn row(theme: &Theme, item: &TodoItem, columns: usize) -> StyledLine {
    let (mark, mark_style, style) = todo_mark(theme, item.status);
    let text = visible_line(&item.content);
    let text = ellipsis(&text, columns.saturating_sub(2));
    StyledLine::of(mark, mark_style).with(text, style)
}
