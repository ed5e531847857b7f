//! The search through earlier prompts: opening it, and its keys.

use super::state::HistoryPicker;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::History;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::popups::{Picker, PopupKeys, list, topmost};
use crate::app::tui::update::tree;

pub fn open(app: &mut App) {
    app.overlays.push(HistoryPicker::default().into());
    HistoryPicker::query_changed(app);
}

pub fn loaded(app: &mut App, older: History) {
    app.message_mut().history_mut().merge(older);
    HistoryPicker::query_changed(app);
}

impl PopupKeys for HistoryPicker {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        list::press(app, press, action.map(turned_around))
    }

    fn query_changed(app: &mut App) {
        topmost!(app, HistorySearch).search(app.composer.history());
    }

    fn choose(app: &mut App) -> Vec<Effect> {
        let age = topmost!(app, HistorySearch).picker.chosen();
        let prompt = age.and_then(|age| app.composer.history().get(age));
        let prompt = prompt.map(str::to_owned);
        app.overlays.pop();
        if let Some(prompt) = prompt {
            // Inserted as typed, so that a command is a command again.
            tree::keep_draft(app);
            app.composer.set(&prompt);
        }
        Vec::new()
    }
}

/// The newest prompt is on top here, but Up must go to older prompts, as in a shell.
fn turned_around(action: Action) -> Action {
    match action {
        Action::Up | Action::ListPrevious | Action::HistorySearch => Action::ListNext,
        Action::Down | Action::ListNext => Action::ListPrevious,
        Action::PageUp => Action::PageDown,
        Action::PageDown => Action::PageUp,
        other => other,
    }
}
