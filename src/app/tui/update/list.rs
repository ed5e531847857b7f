//! The common parts of all lists: moving, typing a query, finding matches.

use super::overlay;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::History;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{HistoryPicker, Overlay, SessionMode};

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Back | Action::Interrupt) => drop(app.overlays.pop()),
        Some(Action::Accept) => return overlay::choose(app),
        _ => {
            let page = usize::from(app.areas.list.height.max(2) - 1);
            let picker = app.overlays.last_mut().and_then(Overlay::picker);
            if picker.is_some_and(|picker| picker.press(action, press.text(), page)) {
                search(app);
            }
        }
    }
    Vec::new()
}

pub fn open_history(app: &mut App) {
    let list = HistoryPicker::default();
    app.overlays.push(Overlay::HistorySearch(list));
    search(app);
}

pub fn history_loaded(app: &mut App, older: History) {
    app.message_mut().history_mut().merge(older);
    if let Some(Overlay::HistorySearch(_)) = app.overlays.last() {
        search(app);
    }
}

/// Pastes into the query of the topmost overlay. Returns whether it has one.
pub fn paste(app: &mut App, text: &str) -> bool {
    if let Some(Overlay::Login(login)) = app.overlays.last_mut()
        && login.typing.is_some()
    {
        login.type_key(text);
        return true;
    }
    let Some(picker) = app.overlays.last_mut().and_then(Overlay::query) else {
        return false;
    };
    picker.type_text(text);
    search(app);
    true
}

fn search(app: &mut App) {
    match app.overlays.last_mut() {
        Some(Overlay::HistorySearch(list)) => list.search(app.composer.history()),
        Some(Overlay::Copy(list)) => list.search(),
        Some(Overlay::Help(list)) => list.search(),
        Some(Overlay::Docs(page)) => page.search(),
        Some(Overlay::Models(models)) => models.search(&app.models),
        Some(Overlay::Themes(themes)) => themes.search(),
        Some(Overlay::Login(login)) => login.search(),
        Some(Overlay::Settings(list)) if list.typing.is_none() => list.search(),
        Some(Overlay::Tree(tree)) => tree.search(),
        Some(Overlay::Rewind(list)) if list.chosen.is_none() => list.search(),
        Some(Overlay::Sessions(list)) if list.mode == SessionMode::Choosing => {
            list.search(app.now);
        }
        _ => {}
    }
}
