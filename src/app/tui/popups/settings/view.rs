//! The list of settings: name and value, and below them the purpose of the selected one.

use ratatui_core::style::Style;

use super::state::SettingsPicker;
use crate::app::action::Action;
use crate::app::config::SettingRow;
use crate::app::humanize::plural;
use crate::app::tui::app::App;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::{ellipsis, fit, fit_end, width};
use crate::app::tui::view::line::StyledLine;

/// Columns for a group, if there is room.
const GROUP: usize = 12;
/// Columns for a name.
const NAME: usize = 30;
/// Rows for the purpose of the selected setting, including the rule.
const ABOUT_ROWS: u16 = 5;
const MAX_ROWS: u16 = 18;

impl PopupView for SettingsPicker {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let theme = &app.theme;
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let (delete, undo) = (app.key(Action::DeleteForward), app.key(Action::Undo));
        let notes = if self.typing.is_some() {
            vec![format!(" {enter} save · {esc} cancel ")]
        } else {
            vec![
                format!(" {enter} or ←→ change · {delete} reset · {undo} undo · {esc} close "),
                format!(" {enter} change · {esc} close "),
            ]
        };
        let rows = usize::from(MAX_ROWS + ABOUT_ROWS + 1);
        let area = popup.open("Settings", rows, &notes)?;
        let below = popup.query(&self.picker, area);
        let about = if area.height > ABOUT_ROWS + 4 {
            ABOUT_ROWS
        } else {
            0
        };
        let (below, foot) = split(below, below.height - about);
        let none = match self.rows {
            None => "Reading…".to_owned(),
            Some(_) => match self.advice() {
                Some(advice) => format!("Not a setting: {advice}"),
                None => format!(
                    "No match. {} searches commands and documentation too",
                    app.key(Action::Help)
                ),
            },
        };
        let columns = usize::from(area.width);
        let chosen = self.chosen();
        // Without a match, the list says it.
        let advice = self.advice().filter(|_| chosen.is_some());
        let advice = advice.map_or_else(Vec::new, |advice| {
            let style = popup.style(theme.warning);
            StyledLine::wrapped(&format!("Not a setting: {advice}"), style, columns)
        });
        let (above, below) = split(below, advice.len() as u16);
        popup.text(&advice, above);
        let left = if columns < GROUP + 2 * NAME { 0 } else { GROUP };
        // The first row of a group shows its name.
        let mut above = "";
        let drawn = popup.matches(&self.picker, &none, below, |at, style| {
            let row = self.rows.as_ref()?.get(at)?;
            let before = std::mem::replace(&mut above, row.group());
            let group = if before == above { "" } else { above };
            let group = format!("{:left$}", fit(group, left).0);
            let line = line(app, row, columns - left, style);
            Some(StyledLine::of(group, on_row(theme, style, theme.dim)).then(&line))
        });
        if let Some(typed) = &self.typing {
            let y = drawn.list.y + (self.picker.selected().saturating_sub(drawn.top)) as u16;
            let left = (left + NAME.min((columns - left) / 2) + 2) as u16;
            let room = area.width.saturating_sub(left);
            let shown = fit_end(typed.query(), usize::from(room).saturating_sub(2));
            let mut value = StyledLine::of(shown, theme.popup);
            let column = area.x + left + value.width() as u16;
            let y = y.min(area.bottom() - 1);
            popup.caret = Some((column.min(area.right() - 1), y));
            let rest = usize::from(room).saturating_sub(value.width());
            value.push(" ".repeat(rest), theme.popup);
            value.draw(popup.buffer, area.x + left, y, room);
        }
        if about > 0 {
            let warning = popup.style(theme.warning);
            let mut lines = Vec::new();
            let mut add =
                |text: &str, style| lines.extend(StyledLine::wrapped(text, style, columns));
            if let Some(fault) = &self.fault {
                add(fault, warning);
            } else if let (Some(hint), Some(_)) = (self.list_hint(), &self.typing) {
                add(hint, theme.popup);
            } else {
                if let Some(stronger) = chosen.and_then(|row| row.overridden.as_ref()) {
                    let value = shown(&stronger.value);
                    add(
                        &format!("{} overrides it here: {value}", stronger.place),
                        warning,
                    );
                }
                if let Some(words) = self.words() {
                    let choices = format!("Choices: {}", words.join(" · "));
                    add(&ellipsis(&choices, columns), theme.popup);
                }
                add(chosen.map_or("", |row| &row.about), popup.quiet());
            }
            let foot = popup.rule(foot);
            popup.text(&lines, foot);
        }
        Some(drawn)
    }
}

fn line(app: &App, row: &SettingRow, columns: usize, base: Style) -> StyledLine {
    let theme = &app.theme;
    let tone = |style| on_row(theme, base, style);
    let name_columns = NAME.min(columns / 2);
    let name = ellipsis(row.name(), name_columns);
    let pad = name_columns.saturating_sub(width(&name));
    let value = if row.is_no_limit() {
        "no limit".to_owned()
    } else {
        shown(&row.value)
    };
    let style = if row.is_set {
        tone(theme.accent)
    } else {
        tone(theme.dim)
    };
    let value = ellipsis(
        &value.replace('\n', " "),
        columns.saturating_sub(name_columns + 2),
    );
    let line = StyledLine::of(name, base)
        .with(" ".repeat(pad + 2), base)
        .with(value, style);
    match &row.overridden {
        None => {
            // The key used in the file, at the right edge.
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
        toml::Value::Boolean(on) => if *on { "on" } else { "off" }.to_owned(),
        toml::Value::Array(all) if all.is_empty() => "–".to_owned(),
        toml::Value::Array(all) if all.iter().all(toml::Value::is_table) => {
            plural(all.len() as u64, "rule", "rules")
        }
        toml::Value::String(text) if text.is_empty() => "–".to_owned(),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
