//! The list of iterations: opening it, its keys, looking into one.

use std::sync::Arc;

use super::list;
use crate::agent::session::{Iteration, IterationSummary};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{IterationPicker, OpenedIteration, Overlay, Pager};

/// Opens the list. What was heard of stands there at once; the rest is read from the file.
pub fn open(app: &mut App) -> Vec<Effect> {
    let list = IterationPicker::new(&app.timeline);
    app.overlays.push(Overlay::Iterations(Box::new(list)));
    match &app.status.session {
        Some(session) => vec![Effect::ReadIterations(session.file.clone())],
        None => Vec::new(),
    }
}

pub fn read(app: &mut App, stored: Result<Arc<[IterationSummary]>, String>) {
    if let Some(Overlay::Iterations(list)) = app.overlays.last_mut() {
        match stored {
            Ok(stored) => list.read(stored, &app.timeline),
            Err(error) => list.error = Some(error),
        }
    }
}

pub fn refresh(app: &mut App) {
    if let Some(Overlay::Iterations(list)) = app.overlays.last_mut() {
        list.refresh(&app.timeline);
    }
}

pub fn looked_into(app: &mut App, number: usize, content: Result<Arc<Iteration>, String>) {
    if let Some(Overlay::Iterations(list)) = app.overlays.last_mut()
        && let Some(opened) = &mut list.opened
        && opened.number == number
    {
        opened.content = Some(content);
    }
}

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    let Some(Overlay::Iterations(list)) = app.overlays.last_mut() else {
        return Vec::new();
    };
    let Some(opened) = &mut list.opened else {
        return match action {
            Some(Action::Iterations) => {
                app.overlays.pop();
                Vec::new()
            }
            _ => list::press(app, press, action),
        };
    };
    match action {
        Some(Action::Back | Action::Accept) => list.opened = None,
        Some(Action::Interrupt | Action::Iterations) => drop(app.overlays.pop()),
        Some(Action::Left) => return step(app, -1),
        Some(Action::Right) => return step(app, 1),
        action => {
            let page = usize::from(app.areas.list.height.max(2) - 1);
            opened.pager.press(action, page, app.areas.list_end);
        }
    }
    Vec::new()
}

pub fn look_into(app: &mut App) -> Vec<Effect> {
    let Some(Overlay::Iterations(list)) = app.overlays.last() else {
        return Vec::new();
    };
    let chosen = list.picker.chosen();
    chosen.map_or_else(Vec::new, |place| look_at(app, place))
}

/// The next of the matches, or the one before.
fn step(app: &mut App, by: isize) -> Vec<Effect> {
    let Some(Overlay::Iterations(list)) = app.overlays.last_mut() else {
        return Vec::new();
    };
    list.picker.go(by);
    let chosen = list.picker.chosen();
    chosen.map_or_else(Vec::new, |place| look_at(app, place))
}

fn look_at(app: &mut App, place: usize) -> Vec<Effect> {
    let Some(Overlay::Iterations(list)) = app.overlays.last_mut() else {
        return Vec::new();
    };
    let Some(number) = list.row(&app.timeline, place).map(|row| row.number) else {
        return Vec::new();
    };
    if let Some(opened) = &list.opened
        && opened.number == number
    {
        return Vec::new();
    }
    let file = app.status.session.as_ref().map(|session| &session.file);
    list.opened = Some(OpenedIteration {
        number,
        content: match file {
            Some(_) => None,
            None => Some(Err(String::from(
                "This session is not stored: what was said stands in the conversation",
            ))),
        },
        pager: Pager::default(),
    });
    let read = |file: &std::path::PathBuf| Effect::ReadIteration(file.clone(), number);
    file.map(read).into_iter().collect()
}
