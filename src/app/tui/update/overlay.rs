//! Keys, pastes and choices while something lies over the screen.

use super::{iterations, models, sessions, stop, tree, trials};
use crate::agent::{ContextUsage, Leaving};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{ComparisonView, Overlay, Picker, SessionMode};

/// Lines a page of a text to read moves.
const PAGE: usize = 10;

/// A key for the topmost overlay.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.last_mut() {
        Some(Overlay::Iterations(_)) => iterations::press(app, press, action),
        Some(
            Overlay::Help(pager)
            | Overlay::Context(pager, _)
            | Overlay::SessionFacts(_, pager)
            | Overlay::Comparison(ComparisonView { pager, .. }),
        ) => {
            pager.press(action, PAGE, app.areas.list_end);
            if action.is_some_and(closes_pager) {
                app.overlays.pop();
            }
            Vec::new()
        }
        Some(Overlay::ConfirmQuit) => confirm_press(app, action),
        Some(Overlay::EndTrial(..)) => trials::press(app, action),
        Some(Overlay::HistorySearch(_)) => list_press(app, press, action.map(turned_around)),
        Some(Overlay::Tree(_)) => tree::press(app, press, action),
        Some(Overlay::Opening(_)) => sessions::press_opening(app, press, action),
        Some(Overlay::Sessions(_)) => {
            let effects = sessions::press(app, press, action);
            let effects = effects.unwrap_or_else(|| list_press(app, press, action));
            sessions::look(app);
            effects
        }
        Some(Overlay::Models(_)) => {
            models::press(app, action).unwrap_or_else(|| list_press(app, press, action))
        }
        None => Vec::new(),
    }
}

fn closes_pager(action: Action) -> bool {
    matches!(
        action,
        Action::Cancel
            | Action::Help
            | Action::ContextUsage
            | Action::Submit
            | Action::Interrupt
            | Action::Quit
            | Action::PagerClose
    )
}

fn confirm_press(app: &mut App, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Submit | Action::Quit | Action::Yes) => return stop::leave(app),
        Some(Action::Cancel | Action::Interrupt | Action::No) => drop(app.overlays.pop()),
        _ => {}
    }
    Vec::new()
}

/// The newest prompt stands on top; up goes to the one before it in time, as in a shell.
fn turned_around(action: Action) -> Action {
    match action {
        Action::Up | Action::ListPrevious | Action::HistorySearch => Action::ListNext,
        Action::Down | Action::ListNext => Action::ListPrevious,
        Action::PageUp => Action::PageDown,
        Action::PageDown => Action::PageUp,
        other => other,
    }
}

/// A key that means the same in all lists.
pub fn list_press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Cancel | Action::Interrupt) => drop(app.overlays.pop()),
        Some(Action::Submit) => return choose(app),
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

/// Opens the search through earlier prompts.
pub fn open_history(app: &mut App) {
    let picker = Picker::default();
    app.overlays.push(Overlay::HistorySearch(picker));
    search(app);
}

/// It is known where the window goes.
pub fn context_read(app: &mut App, usage: Option<ContextUsage>) {
    if let Some(Overlay::Context(_, shown)) = app.overlays.last_mut() {
        *shown = usage.map(Box::new);
    }
}

/// The prompts of earlier runs were read.
pub fn history_loaded(app: &mut App, older: Vec<String>) {
    app.composer.history_mut().merge(older);
    if let Some(Overlay::HistorySearch(_)) = app.overlays.last() {
        search(app);
    }
}

/// Pastes into the query of the topmost overlay. Returns whether it has one.
pub fn paste(app: &mut App, text: &str) -> bool {
    let Some(picker) = app.overlays.last_mut().and_then(Overlay::query) else {
        return false;
    };
    picker.type_text(text);
    search(app);
    true
}

/// Finds what matches the query of the topmost list: prompts by their age, or models.
pub fn search(app: &mut App) {
    match app.overlays.last_mut() {
        Some(Overlay::HistorySearch(picker)) => {
            let found = app.composer.history().search(picker.query()).collect();
            picker.set_matches(found, 0);
        }
        Some(Overlay::Models(models)) => models.search(&app.models),
        Some(Overlay::Iterations(list)) => list.search(&app.timeline),
        Some(Overlay::Tree(tree)) => tree.search(),
        Some(Overlay::Sessions(list)) if list.mode == SessionMode::Choosing => {
            list.search(app.now);
        }
        _ => {}
    }
}

/// Takes the selected entry of the topmost list.
pub fn choose(app: &mut App) -> Vec<Effect> {
    match app.overlays.pop() {
        Some(Overlay::HistorySearch(picker)) => {
            let age = picker.chosen();
            let prompt = age.and_then(|age| app.composer.history().get(age));
            if let Some(prompt) = prompt.map(str::to_owned) {
                app.composer.set(&prompt);
            }
            Vec::new()
        }
        Some(Overlay::Models(picker)) => models::choose_entry(app, picker),
        Some(Overlay::Iterations(list)) => iterations::look_into(app, list),
        Some(Overlay::Tree(picker)) => tree::choose(app, picker, Leaving::Silently),
        Some(Overlay::Sessions(list)) => {
            app.overlays.push(Overlay::Sessions(list));
            sessions::choose(app)
        }
        Some(Overlay::Opening(opening)) => {
            app.overlays.push(Overlay::Opening(opening));
            sessions::choose_way(app)
        }
        other => {
            app.overlays.extend(other);
            Vec::new()
        }
    }
}
