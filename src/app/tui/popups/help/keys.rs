//! The help: opening it, and what Enter does with the selected entry.

use super::state::{HelpEntry, HelpList};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::completion::waits_for_argument;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::popups::{DocsPage, Picker, PopupKeys, list, settings, topmost};
use crate::app::tui::terminal::input::KeyPress;
use crate::app::tui::update::{completion, keys, tree};

/// Opens the help, searching for `words`.
pub fn open(app: &mut App, words: &str) -> Vec<Effect> {
    let mut list = HelpList::new(&app.keymap);
    list.picker.type_text(words);
    list.search();
    app.overlays.push(list.into());
    Vec::new()
}

impl PopupKeys for HelpList {
    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        if action == Some(Action::Help) {
            app.overlays.pop();
            return Vec::new();
        }
        list::press(app, press, action)
    }

    fn query_changed(app: &mut App) {
        topmost!(app, Help).search();
    }

    /// Closes the help and runs the entry; a command with an argument goes into the editor first.
    fn choose(app: &mut App) -> Vec<Effect> {
        let list = topmost!(app, Help);
        let chosen = list.chosen().filter(|entry| entry.runs());
        if let Some(key) = chosen.and_then(|entry| entry.setting()) {
            let key = key.to_owned();
            app.overlays.pop();
            return settings::open(app, &key);
        }
        if let Some(section) = chosen.and_then(|entry| entry.section) {
            app.overlays.push(DocsPage::new(section).into());
            return Vec::new();
        }
        let Some(action) = chosen.and_then(HelpEntry::action) else {
            return Vec::new();
        };
        app.overlays.pop();
        match action
            .spec()
            .slash
            .filter(|slash| waits_for_argument(slash))
        {
            Some(slash) => {
                tree::keep_draft(app);
                app.composer.set(&format!("/{slash} "));
                completion::typed(app)
            }
            None => keys::act(app, action, ""),
        }
    }
}
