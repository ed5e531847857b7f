//! The whole call in the question strip, as a page to read.

use super::{DocsRows, PAGE, Pager, Popup, PopupDrawn, PopupKeys, PopupView, topmost};
use crate::app::action::{Action, Scope};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::view::question;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPage {
    pub pager: Pager,
}

impl PopupKeys for CallPage {
    fn scope(&self) -> Scope {
        Scope::Pager
    }

    fn pager(&mut self) -> Option<&mut Pager> {
        Some(&mut self.pager)
    }

    fn press(app: &mut App, _: KeyPress, action: Option<Action>) -> Vec<Effect> {
        topmost!(app, Call)
            .pager
            .press(action, PAGE, app.areas.list_end);
        if action.is_some_and(Pager::closes) {
            app.overlays.pop();
        }
        Vec::new()
    }
}

impl PopupView for CallPage {
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let (title, lines) = question::whole(popup.app, popup.text_columns().max(8));
        popup.pager(&title, &lines, self.pager)
    }
}
