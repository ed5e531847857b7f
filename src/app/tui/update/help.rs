//! The help: opening it, and what Enter does with the selected entry.

use super::overlay::topmost;
use super::{completion, keys, settings, tree};
use crate::app::tui::app::App;
use crate::app::tui::completion::waits_for_argument;
use crate::app::tui::effect::Effect;
use crate::app::tui::overlay::{DocsPage, HelpEntry, HelpList, Overlay};

/// Opens the help, searching for `words`.
pub fn open(app: &mut App, words: &str) -> Vec<Effect> {
    let mut list = Box::new(HelpList::new(&app.keymap));
    list.picker.type_text(words);
    list.search();
    app.overlays.push(Overlay::Help(list));
    Vec::new()
}

/// Closes the help and runs the entry; a command with an argument goes into the editor first.
pub fn choose(app: &mut App) -> Vec<Effect> {
    let list = topmost!(app, Help);
    let chosen = list.chosen().filter(|entry| entry.runs());
    if let Some(key) = chosen.and_then(|entry| entry.setting()) {
        let key = key.to_owned();
        app.overlays.pop();
        return settings::open(app, &key);
    }
    if let Some(section) = chosen.and_then(|entry| entry.section) {
        app.overlays
            .push(Overlay::Docs(Box::new(DocsPage::new(section))));
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
