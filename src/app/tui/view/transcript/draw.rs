//! One frame of the transcript: scrolling is resolved, the visible cells laid out, their rows drawn.
//! Works from the position outwards; what is not visible is not looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cache::TranscriptCache;
use super::rows::CellRows;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{
    Anchor, CellBody, Drawn, Position, RowRef, ScrollBy, Transcript,
};

/// Draws what of the transcript is visible in `area`, which must be blank, and says what it found
/// out.
pub fn draw(
    transcript: &Transcript,
    cache: &mut TranscriptCache,
    area: Rect,
    buffer: &mut Buffer,
    theme: &Theme,
) -> Drawn {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return Drawn {
            position: transcript.viewport().position(),
            seen: transcript.viewport().seen(),
            ..Drawn::default()
        };
    }
    cache.begin(transcript, theme, area.width);
    let mut frame = Frame {
        cache,
        transcript,
        theme,
        height: usize::from(area.height),
    };
    let (top, follows) = frame.resolve();
    let rows = frame.visible(top);
    let drawn = frame.report(top, follows, rows);
    paint(cache, &drawn.rows, area, buffer);
    cache.end(transcript);
    drawn
}

/// Paints the visible rows, and asks for the colors of the code in them.
fn paint(cache: &mut TranscriptCache, rows: &[Option<RowRef>], area: Rect, buffer: &mut Buffer) {
    for (y, at) in (area.y..).zip(rows) {
        let Some(at) = at else { break };
        let (rows, code) = cache.visible(at.cell);
        let Some(row) = rows.and_then(|rows| rows.get(at.row as usize)) else {
            continue;
        };
        if let Some(place) = row.code {
            code.see((at.cell, place.block));
        }
        let line = code.line(at.cell, row);
        row.draw(buffer, (area.x, y), area.width, line);
    }
}

struct Frame<'a> {
    cache: &'a mut TranscriptCache,
    transcript: &'a Transcript,
    theme: &'a Theme,
    height: usize,
}

impl Frame<'_> {
    fn count(&self) -> usize {
        self.transcript.cells().len()
    }

    fn rows_of(&mut self, cell: usize) -> &CellRows {
        self.cache.lay_out(self.transcript, self.theme, cell)
    }

    /// The height of a cell, measured.
    fn height_of(&mut self, cell: usize) -> usize {
        self.rows_of(cell).len()
    }

    /// Where the top of the view is once all scrolling is resolved, and whether it follows the end.
    fn resolve(&mut self) -> (RowRef, bool) {
        let viewport = self.transcript.viewport();
        let mut top = match viewport.position() {
            Position::Follow => None,
            Position::At(anchor) => Some(self.find(anchor)),
        };
        for scroll in viewport.pending_scrolls() {
            top = self.scroll(top, *scroll);
        }
        match top {
            Some(top) if !self.reaches_end(top) => (top, false),
            _ => (self.bottom(), true),
        }
    }

    fn find(&mut self, anchor: Anchor) -> RowRef {
        let Some(last) = self.count().checked_sub(1) else {
            return RowRef::default();
        };
        if anchor.cell > last {
            return self.bottom();
        }
        let width = self.cache.width;
        let rows = self.rows_of(anchor.cell);
        let row = match anchor.width {
            known if known == 0 || known == width => anchor.row as usize,
            _ => rows.row_at(anchor.byte),
        };
        RowRef {
            cell: anchor.cell,
            row: row.min(rows.len().saturating_sub(1)) as u32,
        }
    }

    /// `None` is the end.
    fn scroll(&mut self, top: Option<RowRef>, by: ScrollBy) -> Option<RowRef> {
        let page = self.height.saturating_sub(2).max(1) as i32;
        match by {
            ScrollBy::Rows(rows) => self.walk(top, rows),
            ScrollBy::Pages(pages) => self.walk(top, pages.saturating_mul(page)),
            ScrollBy::Top => Some(RowRef::default()),
            ScrollBy::End => None,
            ScrollBy::PreviousPrompt => {
                let top = top.unwrap_or_else(|| self.bottom());
                let at_prompt = self.prompt_top(top.cell);
                // Within a long prompt its own first row is the one above.
                let from = if at_prompt.is_some_and(|prompt| prompt.row < top.row) {
                    top.cell + 1
                } else {
                    top.cell
                };
                let found = (0..from.min(self.count()))
                    .rev()
                    .find_map(|cell| self.prompt_top(cell));
                Some(found.unwrap_or_default())
            }
            ScrollBy::NextPrompt => {
                let top = top?;
                (top.cell + 1..self.count()).find_map(|cell| self.prompt_top(cell))
            }
        }
    }

    /// The first row of a prompt, if `cell` is one.
    fn prompt_top(&mut self, cell: usize) -> Option<RowRef> {
        let body = &self.transcript.cells().get(cell)?.body;
        matches!(body, CellBody::User { .. }).then(|| RowRef {
            cell,
            row: self.rows_of(cell).gap() as u32,
        })
    }

    fn walk(&mut self, top: Option<RowRef>, rows: i32) -> Option<RowRef> {
        let top = match top {
            Some(top) => top,
            None if rows >= 0 => return None,
            None => self.bottom(),
        };
        if rows < 0 {
            Some(self.up(top, rows.unsigned_abs() as usize))
        } else {
            self.down(top, rows.unsigned_abs() as usize)
        }
    }

    fn up(&mut self, mut at: RowRef, mut rows: usize) -> RowRef {
        loop {
            let within = at.row as usize;
            if rows <= within {
                at.row -= rows as u32;
                return at;
            }
            rows -= within;
            if at.cell == 0 {
                return RowRef::default();
            }
            at.cell -= 1;
            at.row = self.height_of(at.cell) as u32;
        }
    }

    /// `None` is beyond the end.
    fn down(&mut self, mut at: RowRef, mut rows: usize) -> Option<RowRef> {
        while at.cell < self.count() {
            let left = self.height_of(at.cell).saturating_sub(at.row as usize);
            if rows < left {
                at.row += rows as u32;
                return Some(at);
            }
            rows -= left;
            at = RowRef::top_of(at.cell + 1);
        }
        None
    }

    /// Whether the last row is visible when the view begins at `top`.
    fn reaches_end(&mut self, top: RowRef) -> bool {
        self.down(top, self.height).is_none()
    }

    /// The top of the view that ends with the last row.
    fn bottom(&mut self) -> RowRef {
        self.up(RowRef::top_of(self.count()), self.height)
    }

    fn visible(&mut self, top: RowRef) -> Vec<Option<RowRef>> {
        let mut rows = Vec::with_capacity(self.height);
        let mut at = top;
        while rows.len() < self.height && at.cell < self.count() {
            if (at.row as usize) < self.height_of(at.cell) {
                rows.push(Some(at));
                at.row += 1;
            } else {
                at = RowRef::top_of(at.cell + 1);
            }
        }
        rows.resize(self.height, None);
        rows
    }

    fn report(&mut self, top: RowRef, follows: bool, rows: Vec<Option<RowRef>>) -> Drawn {
        let mut last = rows
            .iter()
            .flatten()
            .next_back()
            .copied()
            .unwrap_or_default();
        last.row += 1;
        let seen = self.seen().max(last);
        let heights = &self.cache.heights;
        let total = heights.total();
        let rows_to = |row: RowRef| {
            if row.cell >= heights.len() {
                return total;
            }
            heights.before(row.cell) + u64::from(row.row.min(heights.get(row.cell)))
        };
        let below = |row: RowRef| total.saturating_sub(rows_to(row)) as usize;
        let (hidden_below, new_below) = if follows {
            (0, 0)
        } else {
            (below(last), below(seen))
        };
        Drawn {
            position: if follows {
                Position::Follow
            } else {
                Position::At(self.anchor(top))
            },
            hidden_below,
            new_below: new_below.min(hidden_below),
            rows,
            seen: self.anchor_behind(if follows { last } else { seen }),
        }
    }

    /// The end of what the user has seen, in rows of the present width.
    fn seen(&mut self) -> RowRef {
        let seen = self.transcript.viewport().seen();
        let mut row = seen.row;
        if seen.width != self.cache.width && seen.cell < self.count() {
            let rows = self.rows_of(seen.cell);
            row = rows.rows_before(seen.byte) as u32;
        }
        RowRef {
            cell: seen.cell,
            row,
        }
    }

    /// The place behind the last row that was seen.
    fn anchor_behind(&mut self, seen: RowRef) -> Anchor {
        let before = self.transcript.viewport().seen();
        if (before.cell, before.row, before.width) == (seen.cell, seen.row, self.cache.width) {
            return before;
        }
        let mut byte = 0;
        if seen.cell < self.count() {
            let rows = self.rows_of(seen.cell);
            let row = rows.get((seen.row as usize).saturating_sub(1));
            byte = row.map_or(0, |row| row.source.end);
        }
        Anchor {
            cell: seen.cell,
            row: seen.row,
            byte,
            width: self.cache.width,
        }
    }

    fn anchor(&self, top: RowRef) -> Anchor {
        let row = self.cache.row(top);
        Anchor {
            cell: top.cell,
            row: top.row,
            byte: row.map_or(0, |row| row.source.start),
            width: self.cache.width,
        }
    }
}
