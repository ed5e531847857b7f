//! Keys while something lies over the screen.

use super::{models, stop};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::EditCommand;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{HistorySearch, Overlay, Scroll};

/// Lines a page of a list moves.
const PAGE: usize = 10;

/// A key for the topmost overlay.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.pop() {
        Some(Overlay::Help(list)) => {
            let stays = list_press(list, action).map(Overlay::Help);
            app.overlays.extend(stays);
            Vec::new()
        }
        Some(Overlay::Iterations(list)) => {
            let stays = list_press(list, action).map(Overlay::Iterations);
            app.overlays.extend(stays);
            Vec::new()
        }
        Some(Overlay::ConfirmQuit) => confirm_press(app, action),
        Some(Overlay::HistorySearch(search)) => search_press(app, search, press, action),
        Some(Overlay::Models(picker)) => models::press(app, picker, press, action),
        None => Vec::new(),
    }
}

/// Where a list that is only read stands after a key; none when it closes.
fn list_press(list: Scroll, action: Option<Action>) -> Option<Scroll> {
    let top = list.top;
    let top = match action {
        Some(Action::Up) => top.saturating_sub(1),
        Some(Action::Down) => top + 1,
        Some(Action::PageUp) => top.saturating_sub(PAGE),
        Some(Action::PageDown | Action::PagerNext) => top + PAGE,
        Some(Action::ScrollTop | Action::LineStart) => 0,
        // The view stops at the end of the text.
        Some(Action::ScrollBottom | Action::LineEnd) => usize::MAX / 2,
        Some(
            Action::Cancel
            | Action::Help
            | Action::Iterations
            | Action::Submit
            | Action::Interrupt
            | Action::Quit
            | Action::PagerClose,
        ) => return None,
        _ => top,
    };
    Some(Scroll { top })
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

fn search_press(
    app: &mut App,
    mut search: HistorySearch,
    press: KeyPress,
    action: Option<Action>,
) -> Vec<Effect> {
    let hits = app.composer.history().search(&search.query).count();
    match action {
        Some(Action::Cancel | Action::Interrupt) => return Vec::new(),
        Some(Action::Submit) => {
            let mut found = app.composer.history().search(&search.query);
            let prompt = found.nth(search.selected).map(str::to_owned);
            drop(found);
            if let Some(prompt) = prompt {
                app.composer.apply(EditCommand::Set(prompt));
            }
            return Vec::new();
        }
        Some(Action::Up | Action::ListPrevious | Action::HistorySearch) => search.selected += 1,
        Some(Action::Down | Action::ListNext) => {
            search.selected = search.selected.saturating_sub(1);
        }
        Some(Action::PageUp) => search.selected += PAGE,
        Some(Action::PageDown) => search.selected = search.selected.saturating_sub(PAGE),
        Some(Action::DeleteBackward) => {
            search.query.pop();
            search.selected = 0;
        }
        Some(Action::CutToStart | Action::CutWordBackward | Action::CutToSpaceBackward) => {
            search.query.clear();
            search.selected = 0;
        }
        Some(_) => {}
        None => {
            if let Some(c) = press.text() {
                search.query.push(c);
                search.selected = 0;
            }
        }
    }
    search.selected = search.selected.min(hits.saturating_sub(1));
    app.overlays.push(Overlay::HistorySearch(search));
    Vec::new()
}
