//! Keys while something lies over the screen.

use super::{models, stop};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{Overlay, Pager, Picker, Pressed};

/// Lines a page of a list moves.
const PAGE: usize = 10;

/// A key for the topmost overlay.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.pop() {
        Some(Overlay::Help(pager)) => {
            let stays = pager_press(app, pager, action).map(Overlay::Help);
            app.overlays.extend(stays);
            Vec::new()
        }
        Some(Overlay::Iterations(pager)) => {
            let stays = pager_press(app, pager, action).map(Overlay::Iterations);
            app.overlays.extend(stays);
            Vec::new()
        }
        Some(Overlay::ConfirmQuit) => confirm_press(app, action),
        Some(Overlay::HistorySearch(picker)) => history_press(app, picker, press, action),
        Some(Overlay::Models(picker)) => models::press(app, picker, press, action),
        None => Vec::new(),
    }
}

/// Where a text that is only read stands after a key; none when it closes.
fn pager_press(app: &App, mut pager: Pager, action: Option<Action>) -> Option<Pager> {
    let closes = matches!(
        action,
        Some(
            Action::Cancel
                | Action::Help
                | Action::Iterations
                | Action::Submit
                | Action::Interrupt
                | Action::Quit
                | Action::PagerClose
        )
    );
    pager.press(action, PAGE, app.areas.list_end);
    (!closes).then_some(pager)
}

fn confirm_press(app: &mut App, action: Option<Action>) -> Vec<Effect> {
    match action {
        Some(Action::Submit | Action::Quit | Action::Yes) => stop::leave(app),
        Some(Action::Cancel | Action::Interrupt | Action::No) => Vec::new(),
        _ => {
            app.overlays.push(Overlay::ConfirmQuit);
            Vec::new()
        }
    }
}

/// Opens the search through earlier prompts.
pub fn open_history(app: &mut App) {
    let mut picker = Picker::default();
    find_prompts(app, &mut picker);
    app.overlays.push(Overlay::HistorySearch(picker));
}

/// The prompts of earlier runs were read.
pub fn history_loaded(app: &mut App, older: Vec<String>) {
    app.composer.history_mut().merge(older);
    if let Some(Overlay::HistorySearch(mut picker)) = app.overlays.pop_if(is_history) {
        find_prompts(app, &mut picker);
        app.overlays.push(Overlay::HistorySearch(picker));
    }
}

fn is_history(overlay: &mut Overlay) -> bool {
    matches!(overlay, Overlay::HistorySearch(_))
}

/// Finds the prompts that match, by their age.
fn find_prompts(app: &App, picker: &mut Picker) {
    let found = app.composer.history().search(picker.query()).collect();
    picker.set_matches(found, 0);
}

/// The newest prompt stands on top; up goes to the one before it in time, as in a shell.
fn history_press(
    app: &mut App,
    mut picker: Picker,
    press: KeyPress,
    action: Option<Action>,
) -> Vec<Effect> {
    match action {
        Some(Action::Cancel | Action::Interrupt) => return Vec::new(),
        Some(Action::Submit) => {
            let age = picker.chosen();
            let prompt = age.and_then(|age| app.composer.history().get(age));
            if let Some(prompt) = prompt.map(str::to_owned) {
                app.composer.set(&prompt);
            }
            return Vec::new();
        }
        Some(Action::Up | Action::ListPrevious | Action::HistorySearch) => picker.go(1),
        Some(Action::Down | Action::ListNext) => picker.go(-1),
        Some(Action::PageUp) => picker.go(PAGE as isize),
        Some(Action::PageDown) => picker.go(-(PAGE as isize)),
        _ => {
            if picker.press(action, press.text(), PAGE) == Pressed::Query {
                find_prompts(app, &mut picker);
            }
        }
    }
    app.overlays.push(Overlay::HistorySearch(picker));
    Vec::new()
}

/// Pastes into the query of the topmost overlay. Answers whether it has one.
pub fn paste(app: &mut App, text: &str) -> bool {
    match app.overlays.pop() {
        Some(Overlay::HistorySearch(mut picker)) => {
            picker.type_text(text);
            find_prompts(app, &mut picker);
            app.overlays.push(Overlay::HistorySearch(picker));
        }
        Some(Overlay::Models(mut models)) => {
            models.picker.type_text(text);
            models.search(&app.models);
            app.overlays.push(Overlay::Models(models));
        }
        other => {
            app.overlays.extend(other);
            return false;
        }
    }
    true
}
