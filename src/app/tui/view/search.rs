//! The line to type a search in the conversation, with the number of matches.

use super::line::StyledLine;
use super::popup::{Popup, PopupDrawn};
use crate::app::action::Action;
use crate::app::tui::overlay::Picker;
use crate::app::tui::text::width::{fit_end, width};

/// Draws the line in the last row of the room.
pub fn draw(popup: &mut Popup<'_>, bar: &Picker) -> Option<PopupDrawn> {
    let app = popup.app;
    let theme = &app.theme;
    let area = popup.clear_last_row()?;
    let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
    let found = match app.transcript.found() {
        _ if bar.query().trim().is_empty() => String::new(),
        Some(((_, 0), true)) => "searching".to_owned(),
        Some(((_, 0), false)) | None => "no match".to_owned(),
        Some(((at, count), searching)) => {
            let more = if searching { "+" } else { "" };
            format!("{at} of {count}{more}")
        }
    };
    let keys = [
        format!("   {enter}/↑ earlier · ↓ later · {esc} close "),
        format!("   ↑↓ · {esc} close "),
    ];
    let mut right = StyledLine::of(&found, theme.popup);
    let left = usize::from(area.width).saturating_sub(right.width() + 16);
    if let Some(keys) = keys.into_iter().find(|keys| width(keys) <= left) {
        right.push(keys, popup.quiet());
    }
    let title = StyledLine::of(" Find ", theme.popup_title);
    let columns = usize::from(area.width).saturating_sub(title.width() + right.width() + 4);
    let shown = fit_end(bar.query(), columns);
    popup.input(&title.with(shown, theme.popup), area);
    let right_columns = (right.width() as u16).min(area.width);
    let x = area.right() - right_columns;
    right.draw(popup.buffer, x, area.y, right_columns);
    Some(PopupDrawn::default())
}
