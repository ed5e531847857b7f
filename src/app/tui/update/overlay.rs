//! Keys while something lies over the screen.

use super::stop;
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::composer::EditCommand;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{Help, HistorySearch, Overlay};

/// Lines a page of the help moves.
const PAGE: usize = 10;

/// A key for the topmost overlay.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.pop() {
        Some(Overlay::Help(help)) => help_press(app, help, press, action),
        Some(Overlay::ConfirmQuit) => confirm_press(app, press, action),
        Some(Overlay::HistorySearch(search)) => search_press(app, search, press, action),
        None => Vec::new(),
    }
}

fn help_press(
    app: &mut App,
    mut help: Help,
    press: KeyPress,
    action: Option<Action>,
) -> Vec<Effect> {
    let top = help.top;
    help.top = match action {
        Some(Action::Up) => top.saturating_sub(1),
        Some(Action::Down) => top + 1,
        Some(Action::PageUp) => top.saturating_sub(PAGE),
        Some(Action::PageDown) => top + PAGE,
        Some(Action::ScrollTop | Action::LineStart) => 0,
        // The view stops at the end of the text.
        Some(Action::ScrollBottom | Action::LineEnd) => usize::MAX / 2,
        Some(Action::Cancel | Action::Help | Action::Submit | Action::Interrupt | Action::Quit) => {
            return Vec::new();
        }
        None if press.text() == Some('q') => return Vec::new(),
        None if press.text() == Some(' ') => top + PAGE,
        _ => top,
    };
    app.overlays.push(Overlay::Help(help));
    Vec::new()
}

fn confirm_press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match (action, press.text()) {
        (Some(Action::Submit | Action::Quit), _) | (None, Some('y' | 'Y')) => stop::leave(app),
        (Some(Action::Cancel | Action::Interrupt), _) | (None, Some('n' | 'N')) => Vec::new(),
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
        Some(Action::Up | Action::HistorySearch) => search.selected += 1,
        Some(Action::Down) => search.selected = search.selected.saturating_sub(1),
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
