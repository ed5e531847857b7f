//! The key hints while the user selects text with the keyboard.

use super::line::StyledLine;
use super::popup::{Popup, PopupDrawn};
use crate::app::action::Action;
use crate::app::tui::transcript::Unit;

/// Draws the hints in the last row of the room.
pub fn draw(popup: &mut Popup<'_>, unit: Option<Unit>) -> Option<PopupDrawn> {
    let area = popup.clear_last_row()?;
    let title = match unit {
        None => " Select ",
        Some(Unit::Line) => " Selecting lines ",
        Some(_) => " Selecting ",
    };
    let key = |action| popup.app.key(action);
    let mut keys = vec![
        format!("{} copy", key(Action::Accept)),
        format!("{} close", key(Action::Back)),
    ];
    if unit.is_some() {
        keys.push(format!("{} other end", key(Action::SelectSwap)));
    } else {
        keys.insert(0, format!("{} mark", key(Action::SelectMark)));
        keys.push(format!("{} lines", key(Action::SelectLines)));
        keys.push(format!("{} open", key(Action::SelectOpen)));
    }
    let mut line = StyledLine::of(title, popup.app.theme.popup_title);
    for key in keys {
        let part = format!("  {key}");
        if line.width() + part.chars().count() < usize::from(area.width) {
            line.push(part, popup.quiet());
        }
    }
    popup.line(&line, area);
    Some(PopupDrawn::default())
}
