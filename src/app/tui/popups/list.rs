//! The common parts of all lists: moving, typing a query, finding matches.

use super::kinds::Overlay;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::KeyPress;

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Back | Action::Interrupt) => drop(app.overlays.pop()),
        Some(Action::Accept) => return Overlay::choose(app),
        _ => {
            let page = usize::from(app.areas.list.height.max(2) - 1);
            let picker = app.overlays.last_mut().and_then(Overlay::picker);
            if picker.is_some_and(|picker| picker.press(action, press.text(), page)) {
                Overlay::query_changed(app);
            }
        }
    }
    Vec::new()
}

/// Pastes into the query or the name; `None` without one.
pub fn paste(app: &mut App, text: &str) -> Option<Vec<Effect>> {
    app.overlays.last_mut()?.picker()?.type_text(text);
    Overlay::query_changed(app);
    Some(Vec::new())
}
