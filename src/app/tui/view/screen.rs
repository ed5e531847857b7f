//! The whole screen: the area of each part, and the order of the layers.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Rect, Size};

use super::line::StyledLine;
use super::transcript::TranscriptCache;
use super::{
    activity, completion, editor, question, queue, rail, status, todo, transcript, welcome,
};
use crate::app::tui::app::App;
use crate::app::tui::composer::ComposerLayout;
use crate::app::tui::layout::{Areas, Wanted};
use crate::app::tui::popups::{DocsRows, Overlay};
use crate::app::tui::text::link::LinkTable;
use crate::app::tui::text::width;
use crate::app::tui::transcript::Drawn;

/// Cached between frames; can be discarded at any time.
#[derive(Debug, Default)]
pub struct ViewCache {
    /// The rows and heights of the transcript.
    pub transcript: TranscriptCache,
    /// The links that were on the screen.
    pub links: LinkTable,
    /// The page of the documentation that was on the screen.
    pub docs: DocsRows,
}

/// Results of a frame: for `Tui::settle`, and the cursor's place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScreenDrawn {
    pub areas: Areas,
    pub transcript: Drawn,
    pub cursor: Option<(u16, u16)>,
}

/// Paints the whole screen into `buffer`, which must be blank.
pub fn view(app: &App, cache: &mut ViewCache, buffer: &mut Buffer) -> ScreenDrawn {
    if app.theme.paints() {
        buffer.set_style(buffer.area, app.theme.screen);
    }
    let plan = Plan::new(app, buffer.area.as_size());
    let room = plan.areas.transcript;
    plan.draw(app, cache, room, buffer)
}

/// The content and the area of each part of the screen.
#[derive(Debug)]
pub(super) struct Plan {
    pub areas: Areas,
    layout: ComposerLayout,
    asked: Vec<StyledLine>,
    has_activity: bool,
}

impl Plan {
    pub fn new(app: &App, size: Size) -> Self {
        let layout = app.composer.layout();
        let rail = rail::is_wanted(app, size);
        let count = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        // Parts in the rail are not repeated elsewhere.
        let (queue_rows, todo_rows) = if rail {
            (0, 0)
        } else {
            (count(app.queue.len()), todo::rows_wanted(app, size))
        };
        let mut wanted = Wanted {
            editor_rows: layout.rows.len() as u16,
            question_rows: u16::MAX,
            queue_rows,
            todo_rows,
            rail,
            activity_rows: activity::rows_wanted(app, size),
        };
        let room = Areas::new(size, wanted).question;
        let asked = question::strip(app, room);
        wanted.question_rows = count(asked.rows.len());
        let mut areas = Areas::new(size, wanted);
        areas.question_cut = asked.is_cut;
        Self {
            areas,
            layout,
            asked: asked.rows,
            has_activity: wanted.activity_rows > 0,
        }
    }

    /// Paints everything, with the conversation in `room`.
    pub fn draw(
        self,
        app: &App,
        cache: &mut ViewCache,
        room: Rect,
        buffer: &mut Buffer,
    ) -> ScreenDrawn {
        let mut areas = self.areas;
        let rows = &mut cache.transcript;
        let drawn = transcript::draw(&app.transcript, rows, room, buffer, &app.theme);
        let links = &mut cache.links;
        transcript::paint_links(&app.transcript, rows, links, &drawn.rows, room, buffer);
        if app.transcript.is_empty() {
            welcome::draw(app, areas.transcript, buffer);
        } else {
            areas.pill = pill(app, &drawn, areas.transcript, buffer);
        }
        rail::draw(app, areas.rail, buffer);
        todo::draw(app, areas.todo, buffer);
        queue::draw(app, areas.rule, areas.queue, buffer);
        question::draw(&self.asked, areas.question, buffer);
        activity::draw(app, areas.activity, buffer);
        let caret = editor::draw(app, &self.layout, &areas, buffer);
        status::draw(app, areas.status, buffer);
        // Popups sit above the editor; the activity line stays visible.
        let foot = if self.has_activity {
            areas.activity.y
        } else {
            areas.editor.y
        };
        if let Some(list) = app.completion.as_ref().filter(|_| app.overlays.is_empty()) {
            let room = Rect::new(areas.editor.x, 0, areas.editor.width, foot);
            (areas.completion, areas.completion_top) = completion::draw(app, list, room, buffer);
        }
        let foot = match app.overlays.last() {
            // A page to read takes the editor's room too.
            Some(Overlay::Docs(_)) if !self.has_activity => areas.status.y,
            _ => foot,
        };
        let above = Rect::new(0, 0, buffer.area.width, foot);
        let docs = &mut cache.docs;
        let over = app
            .overlays
            .last()
            .map(|top| top.draw(app, docs, above, buffer).unwrap_or_default());
        if let Some(over) = &over {
            (areas.list, areas.list_top, areas.list_end) = (over.list, over.top, over.end);
        }
        let selects = drawn.caret_at.map(|(x, y)| {
            let right = room.width.saturating_sub(1);
            (room.x + x.min(right), room.y + y)
        });
        ScreenDrawn {
            areas,
            transcript: drawn,
            cursor: over.map_or(caret, |over| over.caret.or(selects)),
        }
    }
}

/// The pill at the end of the last row, shown while the user is scrolled away.
fn pill(app: &App, drawn: &Drawn, area: Rect, buffer: &mut Buffer) -> Rect {
    let text = match (drawn.new_below, drawn.hidden_below) {
        (_, 0) => return Rect::ZERO,
        (0, hidden) => format!(" ▼ {hidden} below "),
        (1, _) => " ▼ 1 new line ".to_owned(),
        (new, _) => format!(" ▼ {new} new lines "),
    };
    let columns = width(&text) as u16;
    if area.is_empty() || columns + 2 > area.width {
        return Rect::ZERO;
    }
    let spot = Rect::new(area.right() - columns - 1, area.bottom() - 1, columns, 1);
    // The pill must not cut a wide character in half.
    if spot.x > area.x {
        let before = &mut buffer[(spot.x - 1, spot.y)];
        if width(before.symbol()) > 1 {
            before.set_symbol(" ");
        }
    }
    for x in spot.x..spot.right() {
        buffer[(x, spot.y)].reset();
    }
    buffer.set_stringn(spot.x, spot.y, &text, usize::from(columns), app.theme.pill);
    spot
}
