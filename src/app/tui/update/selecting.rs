//! Selecting in the conversation with the keys.

use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::input::{KeyModifiers, KeyPress};
use crate::app::tui::overlay::{Overlay, SelectMode};
use crate::app::tui::transcript::{Motion, Unit};

pub fn open(app: &mut App) {
    if app.transcript.begin_caret() {
        let mode = Overlay::Selecting(SelectMode::default());
        app.overlays.push(mode);
    } else {
        app.say("There is nothing to select yet", 3000);
    }
}

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) {
    let Some(Overlay::Selecting(mode)) = app.overlays.last_mut() else {
        return;
    };
    let with_shift = press.mods.contains(KeyModifiers::SHIFT);
    let page = i32::from(app.areas.transcript.height.saturating_sub(2).max(1));
    let plain = KeyPress::new(press.code, press.mods - KeyModifiers::SHIFT);
    let scope = crate::app::action::Scope::Selecting;
    let moves = action
        .or_else(|| app.keymap.resolve(plain, scope))
        .and_then(|action| motion(action, page));
    match (action, moves) {
        (_, Some(motion)) => {
            if with_shift && mode.unit.is_none() {
                mode.unit = Some(Unit::Character);
                app.transcript.mark_caret(mode.unit);
            }
            app.transcript.move_caret(motion);
        }
        (Some(Action::SelectMark), _) => mark(app, Unit::Character),
        (Some(Action::SelectLines), _) => mark(app, Unit::Line),
        (Some(Action::SelectSwap), _) => app.transcript.swap_caret(),
        (Some(Action::SelectCopy | Action::Accept | Action::CopyReply), _) => {
            app.overlays.pop();
            app.transcript.finish_caret();
        }
        (Some(Action::SelectOpen), _) => app.transcript.name_caret(),
        (Some(Action::Back), _) if mode.unit.is_some() => {
            mode.unit = None;
            app.transcript.mark_caret(None);
        }
        (Some(Action::Back | Action::Interrupt | Action::SelectText), _) => close(app),
        _ => {}
    }
}

pub fn close(app: &mut App) {
    app.overlays.pop();
    app.transcript.end_caret();
}

fn mark(app: &mut App, unit: Unit) {
    if let Some(Overlay::Selecting(mode)) = app.overlays.last_mut() {
        mode.unit = Some(unit).filter(|unit| mode.unit != Some(*unit));
        app.transcript.mark_caret(mode.unit);
    }
}

/// How the caret moves with an action of the editor.
fn motion(action: Action, page: i32) -> Option<Motion> {
    Some(match action {
        Action::Left => Motion::Left,
        Action::Right => Motion::Right,
        Action::Up | Action::ListPrevious => Motion::Rows(-1),
        Action::Down | Action::ListNext => Motion::Rows(1),
        Action::PageUp => Motion::Rows(-page),
        Action::PageDown => Motion::Rows(page),
        Action::WordLeft => Motion::WordLeft,
        Action::WordRight => Motion::WordRight,
        Action::LineStart => Motion::RowStart,
        Action::LineEnd => Motion::RowEnd,
        Action::ScrollTop => Motion::Top,
        Action::ScrollBottom => Motion::Bottom,
        Action::PreviousPrompt => Motion::PreviousPrompt,
        Action::NextPrompt => Motion::NextPrompt,
        _ => return None,
    })
}
