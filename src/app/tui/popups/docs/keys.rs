//! The page of the documentation: its keys, and its search.

use super::state::{DocsPage, PageFind};
use crate::app::action::{Action, Scope};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::{Overlay, Pager, Picker, PopupKeys, list, topmost};
use crate::app::tui::terminal::input::KeyPress;

impl PopupKeys for DocsPage {
    fn scope(&self) -> Scope {
        match self.find {
            Some(_) => Scope::List,
            None => Scope::Pager,
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        self.find.as_mut().map(|find| &mut find.line)
    }

    fn pager(&mut self) -> Option<&mut Pager> {
        Some(&mut self.pager)
    }

    /// Handles a key: letters scroll as in less, or are part of the search.
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let (end, height) = (app.areas.list_end, usize::from(app.areas.list.height));
        let page = topmost!(app, Docs);
        if page.find.is_some() {
            match action {
                Some(Action::Back | Action::Interrupt) => page.find = None,
                Some(Action::Accept | Action::Down | Action::ListNext | Action::Search) => {
                    page.next(false);
                }
                Some(Action::Up | Action::ListPrevious) => page.next(true),
                Some(Action::PageUp | Action::PageDown) => page.pager.press(action, height, end),
                _ => return list::press(app, press, action),
            }
            return Vec::new();
        }
        let action = action.or(match press.text() {
            Some('j') => Some(Action::Down),
            Some('k') => Some(Action::Up),
            Some('b') => Some(Action::PageUp),
            Some('g') => Some(Action::ScrollTop),
            Some('G') => Some(Action::ScrollBottom),
            Some('q') => Some(Action::Back),
            Some('/') => Some(Action::Search),
            _ => None,
        });
        match action {
            Some(Action::Search) => page.find = Some(PageFind::default()),
            Some(Action::Back | Action::Help | Action::Interrupt | Action::Quit) => {
                app.overlays.pop();
            }
            action => page
                .pager
                .press(action, height.saturating_sub(1).max(1), end),
        }
        Vec::new()
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Docs).search();
    }
}

/// Takes the place that the frame has scrolled to.
pub fn drawn(app: &mut App) {
    if let Some(Overlay::Docs(page)) = app.overlays.last_mut()
        && page.seek.take().is_some()
    {
        page.pager.top = app.areas.list_top;
    }
}
