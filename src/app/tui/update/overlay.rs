//! Keys, pastes and choices while something lies over the screen.

use super::{
    copy, iterations, list, login, models, permission, search, selecting, sessions, settings, stop,
    themes, tree, trials, undo,
};
use crate::agent::{ContextUsage, Leaving};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{ComparisonView, HelpPage, Overlay, Pager};

/// Lines a page of a text to read moves.
const PAGE: usize = 10;

/// A key for the topmost overlay.
pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.last_mut() {
        Some(Overlay::Iterations(_)) => iterations::press(app, press, action),
        Some(Overlay::Help(pager, page))
            if *page == HelpPage::First && action == Some(Action::Help) =>
        {
            (*pager, *page) = (Pager::default(), HelpPage::All);
            Vec::new()
        }
        Some(
            Overlay::Help(pager, _)
            | Overlay::Stats(pager)
            | Overlay::Call(pager)
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
        Some(Overlay::ConfirmQuit) => confirm_press(app, action, |app| stop::leave(app)),
        Some(Overlay::ConfirmFull) => confirm_press(app, action, |app| {
            app.overlays.pop();
            permission::confirm_full(app)
        }),
        Some(Overlay::EndTrial(..)) => trials::press(app, action),
        Some(Overlay::Undo(_)) => undo::press(app, action),
        Some(Overlay::Rewind(_)) => undo::press_rewind(app, press, action),
        Some(Overlay::HistorySearch(_)) => {
            list::press(app, press, action.map(turned_around), choose)
        }
        Some(Overlay::Search(_)) => search::press(app, press, action),
        Some(Overlay::Selecting(_)) => {
            selecting::press(app, press, action);
            Vec::new()
        }
        Some(Overlay::Copy(_)) => list::press(app, press, action, choose),
        Some(Overlay::Tree(_)) => tree::press(app, press, action),
        Some(Overlay::Opening(_)) => sessions::press_opening(app, press, action),
        Some(Overlay::Sessions(_)) => {
            let effects = sessions::press(app, press, action);
            let effects = effects.unwrap_or_else(|| list::press(app, press, action, choose));
            sessions::look(app);
            effects
        }
        Some(Overlay::Themes(_)) => themes::press(app, press, action),
        Some(Overlay::Login(_)) => login::press(app, press, action),
        Some(Overlay::Settings(_)) => settings::press(app, press, action),
        Some(Overlay::Models(_)) => {
            models::press(app, action).unwrap_or_else(|| list::press(app, press, action, choose))
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

fn confirm_press(
    app: &mut App,
    action: Option<Action>,
    yes: impl FnOnce(&mut App) -> Vec<Effect>,
) -> Vec<Effect> {
    match action {
        Some(Action::Submit | Action::Quit | Action::Yes) => return yes(app),
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

/// It is known where the window goes.
pub fn context_read(app: &mut App, usage: Option<ContextUsage>) {
    if let Some(Overlay::Context(_, shown)) = app.overlays.last_mut() {
        *shown = usage.map(Box::new);
    }
}

/// Takes the selected entry of the topmost list.
pub fn choose(app: &mut App) -> Vec<Effect> {
    match app.overlays.last() {
        Some(Overlay::HistorySearch(list)) => {
            let age = list.picker.chosen();
            let prompt = age.and_then(|age| app.composer.history().get(age));
            if let Some(prompt) = prompt.map(str::to_owned) {
                app.composer.set(&prompt);
            }
            app.overlays.pop();
            Vec::new()
        }
        Some(Overlay::Copy(_)) => copy::choose(app),
        Some(Overlay::Models(_)) => models::choose_entry(app),
        Some(Overlay::Themes(_)) => themes::choose(app),
        Some(Overlay::Login(_)) => login::choose(app),
        Some(Overlay::Settings(_)) => settings::choose(app),
        Some(Overlay::Iterations(_)) => iterations::look_into(app),
        Some(Overlay::Rewind(_)) => undo::choose(app),
        Some(Overlay::Tree(_)) => tree::choose(app, Leaving::Silently),
        Some(Overlay::Sessions(_)) => sessions::choose(app),
        Some(Overlay::Opening(_)) => sessions::choose_way(app),
        _ => Vec::new(),
    }
}
