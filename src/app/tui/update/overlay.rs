//! Keys, pastes and choices while an overlay is open.

use super::{
    completion, copy, docs, help, list, login, models, permission, search, selecting, sessions,
    settings, status, stop, themes, tree, undo, vim,
};
use crate::agent::Leaving;
use crate::app::action::Action;
use crate::app::tui::answers::Pressed;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{Confirm, ConfirmAbout, Overlay};

/// Lines per page in a pager.
pub(super) const PAGE: usize = 10;

/// The topmost overlay if it's of this kind; otherwise returns from the function.
macro_rules! topmost {
    ($app:ident, $kind:ident) => {
        match $app.overlays.last_mut() {
            Some(Overlay::$kind(topmost)) => topmost,
            _ => return Default::default(),
        }
    };
}
pub(super) use topmost;

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    match app.overlays.last_mut() {
        Some(Overlay::Status(_)) => status::press(app, action),
        Some(Overlay::Help(_)) if action == Some(Action::Help) => {
            app.overlays.pop();
            Vec::new()
        }
        Some(Overlay::Docs(_)) => docs::press(app, press, action),
        Some(Overlay::Call(pager)) => {
            pager.press(action, PAGE, app.areas.list_end);
            if action.is_some_and(closes_pager) {
                app.overlays.pop();
            }
            Vec::new()
        }
        Some(Overlay::Confirm(_)) => confirm_press(app, press, action),
        Some(Overlay::Undo(_)) => undo::press(app, press, action),
        Some(Overlay::Rewind(_)) => undo::press_rewind(app, press, action),
        Some(Overlay::HistorySearch(_)) => list::press(app, press, action.map(turned_around)),
        Some(Overlay::Search(_)) => search::press(app, press, action),
        Some(Overlay::Selecting(_)) => {
            selecting::press(app, press, action);
            Vec::new()
        }
        Some(Overlay::Copy(_) | Overlay::Help(_)) => list::press(app, press, action),
        Some(Overlay::Tree(_)) => tree::press(app, press, action),
        Some(Overlay::Opening(_)) => sessions::press_opening(app, press, action),
        Some(Overlay::Sessions(_)) => {
            let effects = sessions::press(app, press, action);
            let effects = effects.unwrap_or_else(|| list::press(app, press, action));
            sessions::look(app);
            effects
        }
        Some(Overlay::Themes(_)) => themes::press(app, press, action),
        Some(Overlay::Login(_)) => login::press(app, press, action),
        Some(Overlay::Settings(_)) => settings::press(app, press, action),
        Some(Overlay::Models(_)) => {
            models::press(app, action).unwrap_or_else(|| list::press(app, press, action))
        }
        None => Vec::new(),
    }
}

pub(super) fn closes_pager(action: Action) -> bool {
    matches!(
        action,
        Action::Back | Action::Help | Action::Accept | Action::Interrupt | Action::Quit
    )
}

fn confirm_press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    let confirm = topmost!(app, Confirm);
    let about = confirm.about;
    if matches!(action, Some(Action::Back | Action::Interrupt)) {
        app.overlays.pop();
        return Vec::new();
    }
    match confirm
        .answers
        .press(action, press.text(), Confirm::ANSWERS, app.now)
    {
        Pressed::Confirmed(0) => {
            app.overlays.pop();
            match about {
                ConfirmAbout::Leave => stop::leave(app),
                ConfirmAbout::Full(how_long) => permission::confirm_full(app, how_long),
            }
        }
        Pressed::Confirmed(_) => {
            app.overlays.pop();
            Vec::new()
        }
        Pressed::Text(digit) => write_on(app, digit, press),
        Pressed::NotYet | Pressed::Selected | Pressed::Nothing => Vec::new(),
    }
}

/// Typing over a question closes it unanswered and goes to the editor.
pub fn write_on(app: &mut App, digit: Option<char>, press: KeyPress) -> Vec<Effect> {
    app.overlays.clear();
    vim::write(app);
    let typed = digit.into_iter().chain(press.text());
    typed.flat_map(|c| completion::insert(app, c)).collect()
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

pub fn choose(app: &mut App) -> Vec<Effect> {
    match app.overlays.last() {
        Some(Overlay::HistorySearch(list)) => {
            let age = list.picker.chosen();
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
        Some(Overlay::Copy(_)) => copy::choose(app),
        Some(Overlay::Help(_)) => help::choose(app),
        Some(Overlay::Models(_)) => models::choose_entry(app),
        Some(Overlay::Themes(_)) => themes::choose(app),
        Some(Overlay::Login(_)) => login::choose(app),
        Some(Overlay::Settings(_)) => settings::choose(app),
        Some(Overlay::Rewind(_)) => undo::choose(app),
        Some(Overlay::Tree(_)) => tree::choose(app, Leaving::Silently),
        Some(Overlay::Sessions(_)) => sessions::choose(app),
        _ => Vec::new(),
    }
}
