//! `/status`: opening it, its keys, and what it has read.

use super::state::{StatusPopup, StatusTab};
use crate::app::action::{Action, Scope};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::effects::session_effect::SessionEffect;
use crate::app::tui::popups::{PAGE, Pager, PopupKeys, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::refusal;

pub fn open(app: &mut App, name: &str) -> Vec<Effect> {
    let Some(tab) = StatusTab::named(name) else {
        let names = StatusTab::ALL.map(|(_, name)| name).join(", ");
        let why = format!("No /status {name}: type {names}");
        return refusal::command(app, &format!("/status {name}"), why);
    };
    app.overlays.push(StatusPopup::default().into());
    show(app, tab)
}

/// Shows this tab, and reads what it needs.
fn show(app: &mut App, tab: StatusTab) -> Vec<Effect> {
    let popup = topmost!(app, Status);
    popup.tab = tab;
    popup.pager = Pager::default();
    let file = app.status.session.as_ref().map(|it| it.file.clone());
    let effect = match tab {
        StatusTab::Cost => None,
        StatusTab::Context => Some(Effect::ReadContext),
        StatusTab::Session => file.map(|file| Effect::Session(SessionEffect::ReadFacts(file))),
        StatusTab::Calls => file.map(Effect::ReadIterations),
    };
    effect.into_iter().collect()
}

impl PopupKeys for StatusPopup {
    fn scope(&self) -> Scope {
        Scope::Pager
    }

    fn pager(&mut self) -> Option<&mut Pager> {
        Some(&mut self.pager)
    }

    fn press(app: &mut App, _: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let popup = topmost!(app, Status);
        let tab = popup.tab;
        match action {
            Some(Action::Left) => return show(app, tab.beside(false)),
            Some(Action::Right | Action::Complete) => return show(app, tab.beside(true)),
            Some(Action::Status) => drop(app.overlays.pop()),
            Some(action) if Pager::closes(action) => drop(app.overlays.pop()),
            action => popup.pager.press(action, PAGE, app.areas.list_end),
        }
        Vec::new()
    }
}

/// Puts into the open popup what was read for it.
pub fn read(app: &mut App, put: impl FnOnce(&mut StatusPopup)) {
    put(topmost!(app, Status));
}
