//! The line that says which keys count while text is selected with them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, clear_last_row};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::transcript::Unit;

/// Draws it in the last row of `room`.
pub fn draw(app: &App, unit: Option<Unit>, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let area = clear_last_row(theme, room, buffer)?;
    let dim = theme.popup.patch(theme.dim);
    let title = match unit {
        None => " Select ",
        Some(Unit::Line) => " Selecting lines ",
        Some(_) => " Selecting ",
    };
    let key = |action| app.key(action);
    let mut keys = vec![
        format!("{} copies", key(Action::Accept)),
        format!("{} closes", key(Action::Back)),
    ];
    if unit.is_some() {
        keys.push(format!("{} other end", key(Action::SelectSwap)));
    } else {
        keys.insert(0, format!("{} marks", key(Action::SelectMark)));
        keys.push(format!("{} lines", key(Action::SelectLines)));
        keys.push(format!("{} opens", key(Action::SelectOpen)));
    }
    let mut line = StyledLine::of(title, theme.popup_title);
    for key in keys {
        let part = format!("  {key}");
        if line.width() + part.chars().count() < usize::from(area.width) {
            line.push(part, dim);
        }
    }
    line.draw(buffer, area.x, area.y, area.width);
    Some(PopupDrawn::default())
}
