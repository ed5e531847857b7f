//! The list of iterations: opening it, its keys, showing one iteration.

use std::sync::Arc;

use super::list;
use super::overlay::topmost;
use crate::agent::session::{Iteration, IterationSummary};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::KeyPress;
use crate::app::tui::overlay::{IterationPicker, OpenedIteration, Overlay, Pager};

/// Opens the list with the iterations already known, and reads the rest from the file.
pub fn open(app: &mut App) -> Vec<Effect> {
    let list = IterationPicker::new(&app.timeline);
    app.overlays.push(Overlay::Iterations(Box::new(list)));
    match &app.status.session {
        Some(session) => vec![Effect::ReadIterations(session.file.clone())],
        None => Vec::new(),
    }
}

pub fn read(app: &mut App, stored: Result<Arc<[IterationSummary]>, String>) {
    let list = topmost!(app, Iterations);
    match stored {
        Ok(stored) => list.read(stored, &app.timeline),
        Err(error) => list.error = Some(error),
    }
}

pub fn refresh(app: &mut App) {
    topmost!(app, Iterations).refresh(&app.timeline);
}

pub fn looked_into(app: &mut App, number: usize, content: Result<Arc<Iteration>, String>) {
    let opened = topmost!(app, Iterations).opened.as_mut();
    if let Some(opened) = opened.filter(|opened| opened.number == number) {
        opened.content = Some(content);
    }
}

pub fn press(app: &mut App, press: KeyPress, action: Option<Action>) -> Vec<Effect> {
    let list = topmost!(app, Iterations);
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
        Some(step @ (Action::Left | Action::Right)) => {
            list.picker.go(if step == Action::Left { -1 } else { 1 });
            return look_into(app);
        }
        action => {
            let page = usize::from(app.areas.list.height.max(2) - 1);
            opened.pager.press(action, page, app.areas.list_end);
        }
    }
    Vec::new()
}

pub fn look_into(app: &mut App) -> Vec<Effect> {
    let list = topmost!(app, Iterations);
    let row = list
        .picker
        .chosen()
        .and_then(|place| list.row(&app.timeline, place));
    let Some(number) = row.map(|row| row.number) else {
        return Vec::new();
    };
    if list
        .opened
        .as_ref()
        .is_some_and(|opened| opened.number == number)
    {
        return Vec::new();
    }
    let file = app.status.session.as_ref().map(|session| &session.file);
    list.opened = Some(OpenedIteration {
        number,
        content: match file {
            Some(_) => None,
            None => Some(Err(String::from(
                "This session isn't stored: see the conversation instead",
            ))),
        },
        pager: Pager::default(),
    });
    let read = |file: &std::path::PathBuf| Effect::ReadIteration(file.clone(), number);
    file.map(read).into_iter().collect()
}
