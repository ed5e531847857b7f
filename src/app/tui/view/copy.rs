//! The list of what can be copied: a line for each, with how much it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_matches, draw_query, on_row, open, split};
use crate::app::action::Action;
use crate::app::humanize::plural;
use crate::app::tui::app::App;
use crate::app::tui::overlay::CopyPicker;
use crate::app::tui::text::width::ellipsis;

/// Columns of the field that says what it is.
const KIND: usize = 9;
/// Columns of the field that says how much it is.
const AMOUNT: usize = 12;
/// Bytes of a text that are looked at for its line.
const MAX_SHOWN: usize = 2_000;

pub fn draw(app: &App, list: &CopyPicker, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let rows = (list.items.len() + 1).min(usize::from(room.height / 2).clamp(3, 14));
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let notes = [
        format!(" type to find · {enter} copies · {esc} closes "),
        format!(" {enter} copies "),
    ];
    let columns = box_columns(room);
    let area = open(app, "Copy", (columns, rows), &notes, room, buffer)?;
    let caret = draw_query(app, &list.picker, area, buffer);
    let (_, below) = split(area, 1);
    let theme = &app.theme;
    let text_columns = usize::from(area.width).saturating_sub(KIND + AMOUNT + 2);
    let drawn = draw_matches(
        app,
        &list.picker,
        "Nothing found",
        below,
        buffer,
        |at, style| {
            let Some(item) = list.items.get(at) else {
                return StyledLine::new();
            };
            let text = &item.text[..item.text.floor_char_boundary(MAX_SHOWN)];
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = ellipsis(lines.next().unwrap_or_default().trim(), text_columns);
            let kind = ellipsis(item.kind.name(), KIND - 1);
            let count = item.text.lines().count() as u64;
            let quiet = on_row(theme, style, theme.dim);
            let mut line = StyledLine::of(format!("{kind:<KIND$}"), quiet);
            line.push(first, style);
            let used = line.width();
            let amount = plural(count, "line", "lines");
            let gap = usize::from(area.width).saturating_sub(used + amount.len() + 1);
            line.push(" ".repeat(gap.max(1)), style);
            line.with(amount, quiet)
        },
    );
    Some(drawn.with_caret(caret))
}
