//! Scrolling and folding, by key and by mouse.

use ratatui::layout::{Position, Rect};

use super::{completion, overlay, sessions};
use crate::app::action::Action;
use crate::app::tui::app::App;
use crate::app::tui::effect::Effect;
use crate::app::tui::input::{MouseButton, MouseEvent, MouseEventKind};
use crate::app::tui::overlay::Overlay;
use crate::app::tui::transcript::{CellClass, ScrollBy};

/// Rows a turn of the wheel moves.
const WHEEL_ROWS: i32 = 3;

pub fn act(app: &mut App, action: Action) {
    let by = match action {
        Action::PageUp => ScrollBy::Pages(-1),
        Action::PageDown => ScrollBy::Pages(1),
        Action::ScrollTop => ScrollBy::Top,
        Action::ScrollBottom => ScrollBy::End,
        Action::PreviousPrompt => ScrollBy::PreviousPrompt,
        Action::NextPrompt => ScrollBy::NextPrompt,
        Action::ToggleOutput => return toggle(app, CellClass::Tool),
        Action::ToggleThinking => return toggle(app, CellClass::Thinking),
        Action::ToggleCell => {
            if !app.transcript.toggle_recent() {
                app.say("Nothing here folds", 2000);
            }
            return;
        }
        _ => return,
    };
    app.transcript.scroll(by);
}

pub fn mouse(app: &mut App, event: MouseEvent) -> Vec<Effect> {
    match event.kind {
        MouseEventKind::ScrollUp => wheel(app, -WHEEL_ROWS),
        MouseEventKind::ScrollDown => wheel(app, WHEEL_ROWS),
        MouseEventKind::Down(MouseButton::Left) => app.mouse_down = Some(event),
        MouseEventKind::Up(MouseButton::Left) => {
            // A press that moved was meant to select, not to fold.
            let clicked = app
                .mouse_down
                .take()
                .is_some_and(|down| (down.column, down.row) == (event.column, event.row));
            let list = app.areas.completion;
            if clicked && app.completion.is_some() && list.contains(event_at(event)) {
                let row = app.areas.completion_top + usize::from(event.row - list.y);
                return completion::click(app, row);
            }
            if clicked && app.overlays.is_empty() {
                click(app, event.column, event.row);
            } else if clicked {
                return click_over(app, event.column, event.row);
            }
        }
        _ => {}
    }
    Vec::new()
}

fn event_at(event: MouseEvent) -> Position {
    Position::new(event.column, event.row)
}

fn wheel(app: &mut App, rows: i32) {
    let (by, end) = (rows as isize, app.areas.list_end);
    let Some(overlay) = app.overlays.last_mut() else {
        return app.transcript.scroll(ScrollBy::Rows(rows));
    };
    if let Some(pager) = overlay.pager() {
        pager.go(by, end);
    } else if let Some(picker) = overlay.picker() {
        picker.go(by);
        sessions::look(app);
    }
}

/// A click while something lies over the screen: chooses from a list.
fn click_over(app: &mut App, col: u16, row: u16) -> Vec<Effect> {
    let list = app.areas.list;
    let picker = app.overlays.last_mut().and_then(Overlay::picker);
    if let Some(picker) = picker.filter(|_| list.contains(Position::new(col, row))) {
        let at = app.areas.list_top + usize::from(row - list.y);
        if at < picker.matches().len() {
            picker.select(at);
            return overlay::choose(app);
        }
    }
    Vec::new()
}

fn click(app: &mut App, col: u16, row: u16) {
    let at = Position::new(col, row);
    let inside = |area: Rect| area.contains(at).then(|| (col - area.x, row - area.y));
    if let Some((col, row)) = inside(app.areas.text) {
        app.composer.click(col, row);
    } else if let Some((_, row)) = inside(app.areas.transcript) {
        let last_row = row + 1 == app.areas.transcript.height;
        if last_row && !app.transcript.is_following() && app.areas.pill.contains(at) {
            app.transcript.scroll(ScrollBy::End);
        } else {
            app.transcript.toggle_at(row);
        }
    }
}

fn toggle(app: &mut App, class: CellClass) {
    let fold = app.transcript.fold_of(class).toggled();
    app.transcript.set_all(class, fold);
}
