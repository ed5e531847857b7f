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
use crate::app::tui::text::width::{ellipsis, fit, fit_end, width};

/// Columns of a group, where there is room for it.
const GROUP: usize = 12;
/// Columns of a name.
const NAME: usize = 30;
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
    let keys = [
        Action::Accept,
        Action::Back,
        Action::DeleteForward,
        Action::Undo,
    ]
    .map(|it| app.key(it));
    let notes = if list.typing.is_some() {
        [
            format!(" {} keeps it · {} goes back ", keys[0], keys[1]),
            String::new(),
        ]
    } else {
        [
            format!(
                " {} or ←→ changes · {} default · {} undoes · {} closes ",
                keys[0], keys[2], keys[3], keys[1]
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
    let left = if columns < GROUP + 2 * NAME { 0 } else { GROUP };
    // The first row of a group is headed by it.
    let mut above = "";
    let drawn = draw_matches(app, &list.picker, none, below, buffer, |at, style| {
        let Some(row) = list.rows.as_ref().and_then(|rows| rows.get(at)) else {
            return StyledLine::new();
        };
        let before = std::mem::replace(&mut above, row.group());
        let group = if before == above { "" } else { above };
        let group = format!("{:left$}", fit(group, left).0);
        StyledLine::of(group, on_row(theme, style, theme.dim)).then(&line(
            app,
            row,
            columns - left,
            style,
        ))
    });
    if let Some(typed) = &list.typing {
        let y = drawn.list.y + (list.picker.selected().saturating_sub(drawn.top)) as u16;
        let left = (left + NAME.min((columns - left) / 2) + 2) as u16;
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
        if let Some(words) = list.words().filter(|_| list.fault.is_none()) {
            lines = StyledLine::wrapped(&words.join(" · "), theme.popup, columns);
        }
        if let Some(stronger) = stronger.filter(|_| list.fault.is_none()) {
            let style = theme.popup.patch(theme.warning);
            lines.splice(..0, StyledLine::wrapped(&stronger, style, columns));
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
    let name = ellipsis(row.name(), name_columns);
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
        None => {
            // The key as the file has it, at the right edge.
            let gap = columns.saturating_sub(line.width() + width(&row.key));
            if gap < 2 || row.name() == row.key {
                return line;
            }
            let key = format!("{}{}", " ".repeat(gap), row.key);
            line.with(key, tone(theme.faint))
        }
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
