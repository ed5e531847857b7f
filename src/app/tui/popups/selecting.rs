//! Selecting text in the conversation with the keyboard.

use super::{DocsRows, Popup, PopupDrawn, PopupKeys, PopupView, topmost};
use crate::app::action::{Action, Scope};
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::terminal::input::{KeyModifiers, KeyPress};
use crate::app::tui::transcript::{Motion, Pointing, Unit};
use crate::app::tui::view::line::StyledLine;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selecting {
    /// What is selected; `None` while only the caret moves.
    unit: Option<Unit>,
}

pub fn open(app: &mut App) {
    if app.transcript.begin_caret() {
        app.overlays.push(Selecting::default().into());
    } else {
        app.say_for("Nothing to select yet", 3000);
    }
}

impl PopupKeys for Selecting {
    fn scope(&self) -> Scope {
        Scope::Selecting
    }

    fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
        let unit = &mut topmost!(app, Selecting).unit;
        let with_shift = press.mods.contains(KeyModifiers::SHIFT);
        let page = i32::from(app.areas.transcript.height.saturating_sub(2).max(1));
        let plain = KeyPress::new(press.code, press.mods - KeyModifiers::SHIFT);
        let moves = action
            .or_else(|| app.keymap.resolve(plain, Scope::Selecting))
            .and_then(|action| motion(action, page));
        match (action, moves) {
            (_, Some(motion)) => {
                if with_shift && unit.is_none() {
                    *unit = Some(Unit::Character);
                    app.transcript.point(Pointing::Mark(*unit));
                }
                app.transcript.point(Pointing::Go(motion));
            }
            (Some(Action::SelectMark), _) => mark(app, Unit::Character),
            (Some(Action::SelectLines), _) => mark(app, Unit::Line),
            (Some(Action::SelectSwap), _) => app.transcript.point(Pointing::Swap),
            (Some(Action::SelectCopy | Action::Accept | Action::CopyReply), _) => {
                app.overlays.pop();
                app.transcript.point(Pointing::Finish);
                app.transcript.hold(false);
            }
            (Some(Action::SelectOpen), _) => app.transcript.point(Pointing::NameHere),
            (Some(Action::Back), _) if unit.is_some() => {
                *unit = None;
                app.transcript.point(Pointing::Mark(None));
            }
            (Some(Action::Back | Action::Interrupt | Action::SelectText), _) => close(app),
            _ => {}
        }
        Vec::new()
    }
}

impl PopupView for Selecting {
    /// Draws the hints in the last row of the room.
    fn draw(&self, popup: &mut Popup<'_>, _: &mut DocsRows) -> Option<PopupDrawn> {
        let area = popup.clear_last_row()?;
        let title = match self.unit {
            None => " Select ",
            Some(Unit::Line) => " Selecting lines ",
            Some(_) => " Selecting ",
        };
        let key = |action| popup.app.key(action);
        let mut keys = vec![
            format!("{} copy", key(Action::Accept)),
            format!("{} close", key(Action::Back)),
        ];
        if self.unit.is_some() {
            keys.push(format!("{} other end", key(Action::SelectSwap)));
        } else {
            keys.insert(0, format!("{} mark", key(Action::SelectMark)));
            keys.push(format!("{} lines", key(Action::SelectLines)));
            keys.push(format!("{} open", key(Action::SelectOpen)));
        }
        let mut line = StyledLine::of(title, popup.app.theme.popup_title);
        for key in keys {
            let part = format!("  {key}");
            if line.width() + part.chars().count() < usize::from(area.width) {
                line.push(part, popup.quiet());
            }
        }
        popup.line(&line, area);
        Some(PopupDrawn::default())
    }
}

pub fn close(app: &mut App) {
    app.overlays.pop();
    app.transcript.deselect();
    app.transcript.hold(false);
}

fn mark(app: &mut App, unit: Unit) {
    let selected = &mut topmost!(app, Selecting).unit;
    *selected = Some(unit).filter(|unit| *selected != Some(*unit));
    app.transcript.point(Pointing::Mark(*selected));
}

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
