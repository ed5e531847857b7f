//! The list of providers that need a key, and the line to type one, which doesn't show it.

use ratatui_core::layout::Rect;

use super::state::Login;
use crate::app::action::Action;
use crate::app::keys::key_page;
use crate::app::tui::popups::{DocsRows, Popup, PopupDrawn, PopupView, on_row, split};
use crate::app::tui::text::width::width;
use crate::app::tui::view::line::StyledLine;

/// Columns for the name of a provider.
const NAME: usize = 18;

impl PopupView for Login {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let app = popup.app;
        let theme = &app.theme;
        let (enter, esc) = (app.key(Action::Accept), app.key(Action::Back));
        let fault = self.fault.as_deref();
        let fault = fault.map(|fault| StyledLine::of(fault, popup.style(theme.warning)));
        if let Some((provider, key)) = &self.typing {
            let notes = [format!(" {enter} save · {esc} back ")];
            let page = key_page(provider);
            let rows = 2 + usize::from(page.is_some());
            let area = popup.open(&format!("Key for {provider}"), rows, &notes)?;
            dots(popup, key.expose(), area);
            if area.height > 1 {
                let said = "Hidden as you type. Stored on this machine only.";
                let said = fault.unwrap_or_else(|| StyledLine::of(said, popup.quiet()));
                popup.line(&said, split(area, 1).1);
            }
            if let Some(page) = page.filter(|_| area.height > 2) {
                let line = StyledLine::of(format!("Get one at {page}"), popup.quiet());
                popup.line(&line, split(area, 2).1);
            }
            return Some(PopupDrawn::default());
        }
        let count = self.providers.as_ref().map_or(1, Vec::len);
        let rows = count + 1 + usize::from(fault.is_some());
        let notes = [format!(" {enter} add a key · {esc} close ")];
        let area = popup.open("API keys", rows, &notes)?;
        let mut list = if self.holds_key() {
            dots(popup, self.picker.query(), area);
            split(area, 1).1
        } else {
            popup.query(&self.picker, area)
        };
        if let Some(fault) = fault.filter(|_| list.height > 1) {
            popup.line(&fault, list);
            list = split(list, 1).1;
        }
        let none = match self.providers {
            None => "Reading…".to_owned(),
            Some(_) => self.no_match(),
        };
        Some(popup.matches(&self.picker, &none, list, |at, style| {
            let provider = self.providers.as_ref()?.get(at)?;
            let tone = |other| on_row(theme, style, other);
            let pad = NAME.saturating_sub(width(&provider.name)) + 2;
            let line = StyledLine::of(&*provider.name, style).with(" ".repeat(pad), style);
            Some(match &provider.place {
                Some(place) => line
                    .with("✓ ", tone(theme.tool_ok))
                    .with(&**place, tone(theme.dim)),
                None => line.with("no key", tone(theme.dim)),
            })
        }))
    }
}

/// Draws a key being typed, without showing it.
fn dots(popup: &mut Popup<'_>, key: &str, area: Rect) {
    let most = usize::from(area.width).saturating_sub(3);
    let dots = "•".repeat(key.chars().count().min(most));
    let theme = &popup.app.theme;
    let line = StyledLine::of("› ", theme.popup_title).with(dots, theme.popup);
    popup.input(&line, area);
}
