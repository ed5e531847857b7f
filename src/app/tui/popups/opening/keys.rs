//! The question about a session that couldn't be opened: asking it, and its keys.

use super::state::{Opening, Way};
use crate::app::action::Action;
use crate::app::sessions::{Choice, Refused};
use crate::app::tui::answers::{Answers, Pressed};
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::options::ExitKind;
use crate::app::tui::popups::{Overlay, PopupKeys, topmost};
use crate::app::tui::session_effect::SessionEffect;
use crate::app::tui::update::{editor, sessions, stop};

pub fn ask(app: &mut App, refused: &Refused) {
    app.overlays.retain(|it| !matches!(it, Overlay::Opening(_)));
    app.overlays.push(Opening::of(refused, app.now).into());
}

pub fn ask_to_write(app: &mut App) {
    if let Some(session) = &app.status.session {
        let opening = Opening::of_read_only(session.file.clone(), app.now);
        app.overlays.push(opening.into());
    }
}

impl PopupKeys for Opening {
    fn answers(&mut self) -> Option<(&mut Answers, usize)> {
        (!self.waits).then_some((&mut self.answers, self.ways.len()))
    }

    fn next_wake(&self, now: i64) -> Option<i64> {
        self.answers.next_wake(now)
    }

    /// Handles a key of the question. Typed text goes to the editor.
    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let opening = topmost!(app, Opening);
        if matches!(action, Some(Action::Back | Action::Interrupt)) {
            if !opening.appeared.is_over(app.now) {
                return Vec::new();
            }
            let effects = stop_waiting(app);
            app.overlays.pop();
            return effects;
        }
        // After typed text, a digit is text as well.
        let is_text = opening.waits || opening.is_written && action.is_none();
        let count = if is_text { 0 } else { opening.ways.len() };
        match opening.answers.press(action, press.text(), count, app.now) {
            Pressed::Confirmed(at) => return choose_way(app, at),
            Pressed::Text(digit) => {
                opening.is_written = true;
                for c in digit.into_iter().chain(press.text()) {
                    editor::insert(app, c);
                }
            }
            Pressed::NotYet | Pressed::Selected | Pressed::Nothing => {}
        }
        Vec::new()
    }
}

pub fn stop_waiting(app: &App) -> Vec<Effect> {
    let waits = |it: &Overlay| matches!(it, Overlay::Opening(opening) if opening.waits);
    let stop = app.overlays.iter().any(waits);
    let stop = stop.then_some(Effect::Session(SessionEffect::StopWaiting));
    stop.into_iter().collect()
}

fn choose_way(app: &mut App, at: usize) -> Vec<Effect> {
    let opening = topmost!(app, Opening);
    let Some(way) = opening.ways.get(at).cloned() else {
        return Vec::new();
    };
    let path = opening.path.clone();
    if way == Way::Wait {
        opening.waits = true;
        app.switch.arriving = sessions::arriving(app, &Choice::Open(path.clone()));
        return vec![Effect::Session(SessionEffect::Wait(path))];
    }
    app.overlays.pop();
    match way {
        Way::Open | Way::Wait => sessions::open(app, Choice::Open(path)),
        Way::Copy => sessions::open(app, Choice::Fork(path)),
        Way::ReadOnly => sessions::open(app, Choice::Look(path)),
        Way::There(_) => stop::end(app, ExitKind::Reopen(path)),
    }
}
