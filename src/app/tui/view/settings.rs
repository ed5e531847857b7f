//! The list of settings: name and value, and below what the chosen one is for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::line::StyledLine;
use super::popup::{
    PopupDrawn, box_columns, draw_matches, draw_query, draw_rule, draw_text, on_row, open, split,
};
use crate::app::action::Action;
use crate::app::config::SettingRow;
use crate::app::tui::app::App;
use crate::app::tui::overlay::{Pager, SettingsPicker};
use crate::app::tui::text::width::{ellipsis, fit_end, width};

/// Columns of a name.
const NAME: usize = 34;
/// Rows for what the chosen one is for, its rule included.
const ABOUT_ROWS: u16 = 5;
const MAX_ROWS: u16 = 18;

pub fn draw(
    app: &App,
    list: &SettingsPicker,
    room: Rect,
    buffer: &mut Buffer,
) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let rows = room.height.saturating_sub(2).min(MAX_ROWS + ABOUT_ROWS + 1);
    let keys = [Action::Accept, Action::Back, Action::DeleteForward].map(|it| app.key(it));
    let notes = if list.typing.is_some() {
        [
            format!(" {} keeps it · {} goes back ", keys[0], keys[1]),
            String::new(),
        ]
    } else {
        [
            format!(
                " {} or ←→ changes · {} default · {} closes ",
                keys[0], keys[2], keys[1]
            ),
            format!(" {} changes · {} closes ", keys[0], keys[1]),
        ]
    };
    let size = (box_columns(room), usize::from(rows));
    let area = open(app, "Settings", size, &notes, room, buffer)?;
    let mut caret = draw_query(app, &list.picker, area, buffer);
    let about = if area.height > ABOUT_ROWS + 4 {
        ABOUT_ROWS
    } else {
        0
    };
    let (_, below) = split(area, 1);
    let (below, foot) = split(below, below.height - about);
    let none = match list.rows {
        None => "Reading …",
        Some(_) => "No match",
    };
    let columns = usize::from(area.width);
    let drawn = draw_matches(app, &list.picker, none, below, buffer, |at, style| {
        let row = list.rows.as_ref().and_then(|rows| rows.get(at));
        row.map_or_else(StyledLine::new, |row| line(app, row, columns, style))
    });
    if let Some(typed) = &list.typing {
        let y = drawn.list.y + (list.picker.selected().saturating_sub(drawn.top)) as u16;
        let left = (NAME.min(columns / 2) + 2) as u16;
        let room = area.width.saturating_sub(left);
        let shown = fit_end(typed.query(), usize::from(room).saturating_sub(2));
        let mut value = StyledLine::of(shown, theme.popup);
        let column = area.x + left + value.width() as u16;
        caret = (column.min(area.right() - 1), y.min(area.bottom() - 1));
        let rest = usize::from(room).saturating_sub(value.width());
        value.push(" ".repeat(rest), theme.popup);
        value.draw(buffer, area.x + left, caret.1, room);
    }
    if about > 0 {
        let quiet = theme.popup.patch(theme.dim);
        let text = match (&list.fault, list.chosen()) {
            (Some(fault), _) => (fault.as_str(), theme.popup.patch(theme.warning)),
            (None, Some(row)) => (row.about.as_str(), quiet),
            (None, None) => ("", quiet),
        };
        let stronger = list.chosen().and_then(|row| row.overridden.as_ref());
        let stronger = stronger.map(|it| format!("{} counts here: {}", it.place, shown(&it.value)));
        let (rule, text_area) = split(foot, 1);
        draw_rule(theme, rule, buffer);
        let mut lines = Vec::new();
        if let Some(stronger) = stronger.filter(|_| list.fault.is_none()) {
            lines = StyledLine::wrapped(&stronger, theme.popup.patch(theme.warning), columns);
        }
        lines.extend(StyledLine::wrapped(text.0, text.1, columns));
        draw_text(&lines, Pager::default(), text_area, buffer);
    }
    Some(drawn.with_caret(caret))
}

fn line(app: &App, row: &SettingRow, columns: usize, base: Style) -> StyledLine {
    let theme = &app.theme;
    let tone = |style| on_row(theme, base, style);
    let name_columns = NAME.min(columns / 2);
    let name = ellipsis(&row.key, name_columns);
    let pad = name_columns.saturating_sub(width(&name));
    let value = shown(&row.value);
    let style = if row.is_set {
        tone(theme.accent)
    } else {
        tone(theme.dim)
    };
    let line = StyledLine::of(name, base)
        .with(" ".repeat(pad + 2), base)
        .with(
            ellipsis(
                &value.replace('\n', " "),
                columns.saturating_sub(name_columns + 2),
            ),
            style,
        );
    match &row.overridden {
        None => line,
        Some(stronger) => line
            .with("  ! ", tone(theme.warning))
            .with(shown(&stronger.value), tone(theme.warning))
            .with(format!("  {}", stronger.place), tone(theme.dim)),
    }
}

fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) if text.is_empty() => "–".to_owned(),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
