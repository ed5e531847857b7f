//! The completion list above the editor: as wide as the editor, as high as its entries.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::line::StyledLine;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::completion::{Candidate, Completion, CompletionKind};
use crate::app::tui::popups::{Popup, list_top, on_row, row_style, split};
use crate::app::tui::text::width::{ellipsis_middle, width};

const MAX_ROWS: usize = 10;
const NO_MATCH: &str = "No match";

pub fn height(list: &Completion) -> u16 {
    let count = list.candidates.len();
    let is_reading = matches!(list.kind, CompletionKind::File) && list.waits;
    if count == 0 && !is_reading {
        return 0;
    }
    count.clamp(1, MAX_ROWS) as u16 + 2
}

/// Draws the list at the end of `room`. Returns the clickable rows and the first entry in them.
pub fn draw(app: &App, list: &Completion, room: Rect, buffer: &mut Buffer) -> (Rect, usize) {
    let count = list.candidates.len();
    let said = match list.kind {
        CompletionKind::File if list.waits => "Reading the folder …",
        CompletionKind::File if list.typed == "@" => "No files here",
        CompletionKind::File => NO_MATCH,
        _ => "",
    };
    if count == 0 && said.is_empty() {
        return (Rect::ZERO, 0);
    }
    let rows = count.clamp(1, MAX_ROWS);
    let height = (rows as u16 + 2).min(room.height);
    let (_, area) = split(room, room.height - height);
    let (tab, esc) = (app.key(Action::Complete), app.key(Action::Back));
    let enter = match list.kind {
        CompletionKind::Command => " run",
        _ => " select",
    };
    let enter = match list.selected {
        Some(_) => format!("{}{enter} · ", app.key(Action::Accept)),
        None => String::new(),
    };
    let notes = match count {
        0 => [format!(" {esc} close "), String::new()],
        _ => [
            format!(" {enter}{tab} complete · {esc} close "),
            format!(" {enter}{tab} complete "),
        ],
    };
    let title = match list.kind {
        CompletionKind::Command => "Commands",
        CompletionKind::Argument(_) => "Arguments",
        CompletionKind::File | CompletionKind::Path => "Files",
    };
    let title = match list.selected {
        Some(selected) if count > rows => format!("{title} · {} of {count}", selected + 1),
        _ => title.to_owned(),
    };
    let mut popup = Popup::new(app, area, buffer);
    let Some(mut inside) = popup.open(&title, rows, &notes) else {
        return (Rect::ZERO, 0);
    };
    if count == 0 {
        let said = match said {
            NO_MATCH => no_match(&tab, usize::from(inside.width)),
            said => said.to_owned(),
        };
        popup.line(&StyledLine::of(said, popup.quiet()), inside);
        return (Rect::ZERO, 0);
    }
    let shown = usize::from(inside.height);
    let selected = list.selected.unwrap_or(0);
    let top = list_top(app.areas.completion_top, selected, count, shown);
    let columns = list.columns.min(usize::from(inside.width) / 2);
    let candidates = list.candidates.iter().enumerate().skip(top);
    for (row, (at, candidate)) in inside.rows().zip(candidates) {
        let style = row_style(&app.theme, list.selected == Some(at));
        buffer.set_style(row, style);
        draw_row(app, candidate, columns, style, row, buffer);
    }
    inside.height = count.saturating_sub(top).min(shown) as u16;
    (inside, top)
}

/// The same, and what to do, as far as there is room.
fn no_match(tab: &str, columns: usize) -> String {
    let texts = [
        format!("{NO_MATCH}. Files that git ignores aren't listed: type the path, {tab} completes"),
        format!("{NO_MATCH}. Type the path, {tab} completes"),
    ];
    let fitting = texts.into_iter().find(|text| width(text) <= columns);
    fitting.unwrap_or_else(|| NO_MATCH.to_owned())
}

fn draw_row(
    app: &App,
    candidate: &Candidate,
    columns: usize,
    style: Style,
    row: Rect,
    buffer: &mut Buffer,
) {
    let dim = on_row(&app.theme, style, app.theme.dim);
    let room = usize::from(row.width);
    let alone = candidate.is_alone();
    let label = ellipsis_middle(&candidate.label, if alone { room } else { columns.max(1) });
    let mut line = StyledLine::of(label, style);
    if alone {
        return line.draw(buffer, row.x, row.y, row.width);
    }
    let key = StyledLine::of(candidate.key.as_str(), dim);
    let left = room.saturating_sub(match key.width() {
        0 => 0,
        columns => columns + 2,
    });
    line.push(
        " ".repeat((columns + 2).saturating_sub(line.width())),
        style,
    );
    line.push(candidate.detail.as_str(), dim);
    line.draw(buffer, row.x, row.y, left as u16);
    key.draw(
        buffer,
        row.right().saturating_sub(key.width() as u16),
        row.y,
        key.width() as u16,
    );
}
