//! The list of providers that want a key, and the line one is typed into, which does not show it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::StyledLine;
use super::popup::{PopupDrawn, box_columns, draw_matches, draw_query, on_row, open, split};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::overlay::Login;
use crate::app::tui::text::width::width;

/// Columns of a provider's name.
const NAME: usize = 18;

pub fn draw(app: &App, login: &Login, room: Rect, buffer: &mut Buffer) -> Option<PopupDrawn> {
    let theme = &app.theme;
    let quiet = theme.popup.patch(theme.dim);
    let keys = [Action::Accept, Action::Back].map(|action| app.key(action));
    let columns = box_columns(room);
    let fault = login
        .fault
        .as_deref()
        .map(|fault| StyledLine::of(fault, theme.popup.patch(theme.warning)));
    if let Some((provider, key)) = &login.typing {
        let notes = [format!(" {} stores it · {} goes back ", keys[0], keys[1])];
        let title = format!("Key for {provider}");
        let area = open(app, &title, (columns, 2), &notes, room, buffer)?;
        let most = usize::from(area.width).saturating_sub(3);
        let dots = "•".repeat(key.expose().chars().count().min(most));
        let line = StyledLine::of("› ", theme.popup_title).with(dots, theme.popup);
        line.draw(buffer, area.x, area.y, area.width);
        let caret = (area.x + line.width() as u16).min(area.right() - 1);
        if area.height > 1 {
            let said = "Hidden as you type. Stored on this machine only.";
            let said = fault.unwrap_or_else(|| StyledLine::of(said, quiet));
            said.draw(buffer, area.x, area.y + 1, area.width);
        }
        return Some(PopupDrawn::default().with_caret((caret, area.y)));
    }
    let count = login.providers.as_ref().map_or(1, Vec::len);
    let rows =
        usize::from(room.height.saturating_sub(2)).min(count + 1 + usize::from(fault.is_some()));
    let notes = [format!(" {} stores a key · {} closes ", keys[0], keys[1])];
    let area = open(app, "API keys", (columns, rows), &notes, room, buffer)?;
    let caret = draw_query(app, &login.picker, area, buffer);
    let (_, mut list) = split(area, 1);
    if let Some(fault) = fault.filter(|_| list.height > 1) {
        fault.draw(buffer, list.x, list.y, list.width);
        list = split(list, 1).1;
    }
    let none = match login.providers {
        None => "Reading …",
        Some(_) => "No match",
    };
    let drawn = draw_matches(app, &login.picker, none, list, buffer, |at, style| {
        let provider = login.providers.as_ref().and_then(|all| all.get(at));
        provider.map_or_else(StyledLine::new, |provider| {
            let tone = |other| on_row(theme, style, other);
            let pad = NAME.saturating_sub(width(&provider.name)) + 2;
            let line = StyledLine::of(&*provider.name, style).with(" ".repeat(pad), style);
            match &provider.place {
                Some(place) => line
                    .with("✓ ", tone(theme.tool_ok))
                    .with(&**place, tone(theme.dim)),
                None => line.with("no key", tone(theme.dim)),
            }
        })
    });
    Some(drawn.with_caret(caret))
}
