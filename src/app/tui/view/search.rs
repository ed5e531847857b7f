//! The line in which is typed what to look for, and how much was found.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, clear_last_row};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::Picker;
use crate::app::tui::text::width::fit_end;

/// Draws it in the last row of `room`.
pub fn draw(app: &App, bar: &Picker, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let area = clear_last_row(theme, room, buffer)?;
    let dim = theme.popup.patch(theme.dim);
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let found = match app.transcript.found() {
        _ if bar.query().trim().is_empty() => String::new(),
        Some(((_, 0), true)) => "searching".to_owned(),
        Some(((_, 0), false)) | None => "nothing found".to_owned(),
        Some(((at, count), searching)) => {
            let more = if searching { "+" } else { "" };
            format!("{at} of {count}{more}")
        }
    };
    let keys = format!("   {enter} ↑ · ↓ · {esc} closes ");
    let mut right = StyledLine::of(&found, theme.popup);
    if usize::from(area.width) >= right.width() + keys.len() + 24 {
        right.push(keys, dim);
    }
    let title = StyledLine::of(" Find ", theme.popup_title);
    let columns = usize::from(area.width).saturating_sub(title.width() + right.width() + 4);
    let shown = fit_end(bar.query(), columns);
    let line = title.with(shown, theme.popup);
    line.draw(buffer, area.x, area.y, area.width);
    let right_columns = (right.width() as u16).min(area.width);
    right.draw(buffer, area.right() - right_columns, area.y, right_columns);
    let caret = area.x + line.width() as u16;
    let caret = (caret.min(area.right() - 1), area.y);
    Some(PopupDrawn::default().with_caret(caret))
}
