//! The mouse: the wheel scrolls, a click opens or chooses, a drag selects and copies. Ctrl+click
//! and Alt+click open a file or link.

use ratatui_core::layout::{Position, Rect};

use super::completion;
use crate::app::tui::app::App;
use crate::app::tui::effects::effect::Effect;
use crate::app::tui::pointer::{Edge, Press};
use crate::app::tui::popups::{Overlay, selecting, sessions};
use crate::app::tui::terminal::input::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use crate::app::tui::transcript::{Pointing, ScrollBy, Unit};

/// Rows per step of the wheel.
const WHEEL_ROWS: i32 = 3;
/// A click with one of these keys opens the file or link under the mouse.
const OPENS: KeyModifiers = KeyModifiers::CONTROL.union(KeyModifiers::ALT);
/// Milliseconds per row while a drag beyond the edge scrolls.
const EDGE_MS: i64 = 40;

pub fn mouse(app: &mut App, event: MouseEvent) -> Vec<Effect> {
    let at = (event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollUp => wheel(app, -WHEEL_ROWS),
        MouseEventKind::ScrollDown => wheel(app, WHEEL_ROWS),
        MouseEventKind::Down(MouseButton::Left) if event.modifiers.intersects(OPENS) => {
            name_word(app, at);
        }
        MouseEventKind::Down(MouseButton::Left) => press(app, at),
        MouseEventKind::Drag(MouseButton::Left) => drag(app, at),
        MouseEventKind::Up(MouseButton::Left) => return release(app, at),
        _ => {}
    }
    Vec::new()
}

/// Asks for the word under the mouse, to open what it names.
fn name_word(app: &mut App, at: (u16, u16)) {
    let area = app.areas.transcript;
    if app.overlays.is_empty() && area.contains(at.into()) {
        let spot = app.transcript.spot(at.0 - area.x, at.1 - area.y);
        app.transcript.point(Pointing::Name(spot));
    }
}

fn press(app: &mut App, at: (u16, u16)) {
    if let Some(Overlay::Selecting(_)) = app.overlays.last() {
        selecting::close(app);
    }
    let unit = match app.pointer.press(app.now, at) {
        1 => Unit::Character,
        2 => Unit::Word,
        _ => Unit::Line,
    };
    let area = app.areas.transcript;
    let listed = app.completion.is_some() && app.areas.completion.contains(at.into());
    let free = app.overlays.is_empty() && !app.areas.pill.contains(at.into());
    let inside = free && !listed && area.contains(at.into());
    let spot = inside.then(|| app.transcript.spot(at.0 - area.x, at.1 - area.y));
    let text = app.areas.text;
    if app.overlays.is_empty() && !listed && text.contains(at.into()) {
        app.composer.click(at.0 - text.x, at.1 - text.y);
    }
    let deselected = app.transcript.deselect() && unit == Unit::Character;
    if let (Some(spot), Unit::Word | Unit::Line) = (spot, unit) {
        app.transcript.select(spot, unit);
    }
    // The release after the last drag may have been lost.
    if app.pointer.down.is_some_and(|last| last.moved) {
        app.transcript.hold(false);
    }
    app.pointer.edge = None;
    app.pointer.down = Some(Press {
        at,
        spot,
        unit,
        moved: false,
        deselected,
    });
}

fn drag(app: &mut App, (column, row): (u16, u16)) {
    let Some(down) = &mut app.pointer.down else {
        return;
    };
    let text = app.areas.text;
    if text.contains(down.at.into()) && app.overlays.is_empty() {
        down.moved = true;
        let column = column.clamp(text.x, text.right().saturating_sub(1)) - text.x;
        let row = row.clamp(text.y, text.bottom().saturating_sub(1)) - text.y;
        return app.composer.select_to(column, row);
    }
    let Some(spot) = down.spot else { return };
    if !down.moved && down.at == (column, row) {
        return;
    }
    if !std::mem::replace(&mut down.moved, true) {
        if down.unit == Unit::Character {
            app.transcript.select(spot, Unit::Character);
        }
        // The selected text must not scroll away under the mouse.
        app.transcript.hold(true);
    }
    let area = app.areas.transcript;
    let column = column.clamp(area.x, area.right().saturating_sub(1)) - area.x;
    let rows = if row < area.y || (row == area.y && area.y == 0) {
        -1
    } else {
        i32::from(row >= area.bottom())
    };
    let edge = (rows != 0).then_some(Edge {
        rows,
        column,
        at: app.now + EDGE_MS,
    });
    if app.pointer.edge.is_none() || edge.is_none() {
        app.pointer.edge = edge;
    }
    let row = row.clamp(area.y, area.bottom().saturating_sub(1)) - area.y;
    let spot = app.transcript.spot(column, row);
    app.transcript.select_to(spot);
}

/// Scrolls on while a drag is held beyond the edge.
pub fn tick(app: &mut App) {
    let Some(edge) = app.pointer.edge.filter(|edge| edge.at <= app.now) else {
        return;
    };
    app.pointer.edge = Some(Edge {
        at: app.now + EDGE_MS,
        ..edge
    });
    app.transcript.scroll(ScrollBy::Rows(edge.rows));
    let last = app.areas.transcript.height.saturating_sub(1);
    let row = if edge.rows < 0 { 0 } else { last };
    let spot = app.transcript.spot(edge.column, row);
    app.transcript.select_to(spot);
}

fn release(app: &mut App, at: (u16, u16)) -> Vec<Effect> {
    app.pointer.edge = None;
    let Some(down) = app.pointer.down.take() else {
        return Vec::new();
    };
    if down.moved {
        app.transcript.hold(false);
    }
    if down.spot.is_some() && (down.moved || down.unit != Unit::Character) {
        app.transcript.copy_selection();
    } else if down.at == at && !down.deselected {
        let list = app.areas.completion;
        if app.completion.is_some() && list.contains(at.into()) {
            let row = app.areas.completion_top + usize::from(at.1 - list.y);
            return completion::click(app, row);
        }
        if !app.overlays.is_empty() {
            return click_over(app, at.into());
        }
        click(app, at.into());
    }
    Vec::new()
}

fn wheel(app: &mut App, rows: i32) {
    let (by, end) = (rows as isize, app.areas.list_end);
    let over = app.overlays.last_mut();
    let Some(overlay) = over.filter(|it| !matches!(it, Overlay::Search(_) | Overlay::Selecting(_)))
    else {
        return app.transcript.scroll(ScrollBy::Rows(rows));
    };
    if let Some(pager) = overlay.pager() {
        pager.go(by, end);
    } else if let Some(picker) = overlay.picker() {
        picker.go(by);
        sessions::look(app);
    }
}

/// A click in an overlay: chooses from its list.
fn click_over(app: &mut App, at: Position) -> Vec<Effect> {
    let list = app.areas.list;
    let Some(overlay) = app.overlays.last_mut().filter(|_| list.contains(at)) else {
        return Vec::new();
    };
    let row = usize::from(at.y - list.y);
    if let Some((answers, count)) = overlay.answers() {
        if row < count {
            answers.select(row);
        }
    } else if let Some(picker) = overlay.picker()
        && app.areas.list_top + row < picker.matches().len()
    {
        picker.select(app.areas.list_top + row);
        // A heading can't be chosen.
        if picker.selected() == app.areas.list_top + row {
            return Overlay::choose(app);
        }
    }
    Vec::new()
}

fn click(app: &mut App, at: Position) {
    let inside = |area: Rect| area.contains(at).then(|| (at.x - area.x, at.y - area.y));
    if let Some((col, row)) = inside(app.areas.text) {
        app.composer.click(col, row);
    } else if let Some((_, row)) = inside(app.areas.transcript) {
        let last_row = row + 1 == app.areas.transcript.height;
        if last_row && !app.transcript.is_following() && app.areas.pill.contains(at) {
            app.transcript.scroll(ScrollBy::End);
        } else if app.transcript.viewport().takes_click(row) {
            app.transcript.toggle_at(row);
        }
    }
}
