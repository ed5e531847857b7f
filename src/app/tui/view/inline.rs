//! The rows at the bottom of the normal screen: the part of the conversation that can still change,
//! then the editor and its neighbours. The same functions paint them.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};

use super::line::StyledLine;
use super::screen::Plan;
use super::{ScreenDrawn, ViewCache, completion, welcome};
use crate::app::tui::app::App;
use crate::app::tui::text::width::ellipsis;

/// Tenths of the screen that the conversation may take.
const TENTHS: u32 = 6;
/// Rows that the conversation may take on any screen.
const LEAST: u16 = 4;

#[derive(Debug)]
pub struct LivePlan {
    plan: Plan,
    rows: u16,
    size: Size,
}

impl LivePlan {
    /// Plans for `rows` rows of the conversation. Rows already on the screen stay, up to `least` in
    /// all, so that nothing jumps when a part shrinks.
    pub fn new(app: &App, rows: usize, least: u16) -> Self {
        let mut plan = Plan::new(app, app.size);
        let areas = &plan.areas;
        let most = areas.transcript.height;
        let others = app.size.height - most;
        let share = (u32::from(app.size.height) * TENTHS / 10) as u16;
        let rows = rows.min(usize::from(most.min(share.max(LEAST)))) as u16;
        let mut room = rows.max(least.saturating_sub(others));
        if app.transcript.is_empty() {
            room = room.max(welcome::height(app, app.size.width));
        }
        if let Some(list) = &app.completion {
            let parts = [areas.rule, areas.todo, areas.queue, areas.question];
            let above: u16 = parts.iter().map(|part| part.height).sum();
            room = room.max(completion::height(list).saturating_sub(above));
        }
        let room = room.min(most);
        plan.areas = plan.areas.with_transcript_rows(room);
        Self {
            plan,
            rows: rows.min(room),
            size: Size::new(app.size.width, others + room),
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Paints into `buffer`, which must be blank and have this size.
    pub fn draw(self, app: &App, cache: &mut ViewCache, buffer: &mut Buffer) -> ScreenDrawn {
        let room = Rect {
            height: self.rows,
            ..self.plan.areas.transcript
        };
        self.plan.draw(app, cache, room, buffer)
    }
}

/// The line between two conversations printed one after the other.
pub fn divider(app: &App, width: u16) -> Buffer {
    let theme = &app.theme;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, 3));
    let session = app.status.session.as_ref();
    let label = session.and_then(|session| session.label());
    let label = ellipsis(label.unwrap_or("a new conversation"), 60);
    let line = StyledLine::of(" ══ ", theme.rule)
        .with(label, theme.dim)
        .with(" ══", theme.rule);
    line.draw(&mut buffer, 0, 1, width);
    buffer
}
