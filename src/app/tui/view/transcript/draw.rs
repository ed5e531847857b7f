//! One frame of the transcript: wishes are granted, the visible cells laid out, their rows drawn.
//! Works from the position outwards; what is not visible is not looked at.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cache::TranscriptCache;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Anchor, CellBody, Drawn, Hit, Position, ScrollBy, Transcript};

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
            position: transcript.position(),
            seen: transcript.seen(),
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
    let hits = frame.visible(top);
    let drawn = frame.report(top, follows, hits);
    paint(cache, &drawn.hits, area, buffer);
    cache.end(transcript);
    drawn
}

/// Paints the visible rows, and asks for the colors of the code in them.
fn paint(cache: &mut TranscriptCache, hits: &[Option<Hit>], area: Rect, buffer: &mut Buffer) {
    for (y, hit) in (area.y..).zip(hits) {
        let Some(hit) = hit else { break };
        let (rows, code) = cache.visible(hit.cell);
        let Some(row) = rows.and_then(|rows| rows.get(hit.row as usize)) else {
            continue;
        };
        let line = row.code.and_then(|place| {
            code.see((hit.cell, place.block));
            code.line(hit.cell, place)
        });
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

    /// The height of a cell, measured.
    fn height_of(&mut self, cell: usize) -> usize {
        self.cache.lay_out(self.transcript, self.theme, cell).len()
    }

    /// Where the top of the view is once all wishes are granted, and whether it follows the end.
    fn resolve(&mut self) -> (Hit, bool) {
        let mut top = match self.transcript.position() {
            Position::Follow => None,
            Position::At(anchor) => Some(self.find(anchor)),
        };
        let transcript = self.transcript;
        for wish in transcript.wishes() {
            top = self.grant(top, *wish);
        }
        match top {
            Some(top) if !self.reaches_end(top) => (top, false),
            _ => (self.bottom(), true),
        }
    }

    fn find(&mut self, anchor: Anchor) -> Hit {
        let Some(last) = self.count().checked_sub(1) else {
            return Hit::default();
        };
        if anchor.cell > last {
            return self.bottom();
        }
        let same_width = anchor.width == 0 || anchor.width == self.cache.width;
        let rows = self.cache.lay_out(self.transcript, self.theme, anchor.cell);
        let row = if same_width {
            anchor.row as usize
        } else {
            rows.row_at(anchor.byte)
        };
        Hit {
            cell: anchor.cell,
            row: row.min(rows.len().saturating_sub(1)) as u32,
        }
    }

    /// `None` is the end.
    fn grant(&mut self, top: Option<Hit>, wish: ScrollBy) -> Option<Hit> {
        let page = self.height.saturating_sub(2).max(1) as i32;
        match wish {
            ScrollBy::Rows(rows) => self.walk(top, rows),
            ScrollBy::Pages(pages) => self.walk(top, pages.saturating_mul(page)),
            ScrollBy::Top => Some(Hit::default()),
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
    fn prompt_top(&mut self, cell: usize) -> Option<Hit> {
        let is_prompt = matches!(
            self.transcript.cells().get(cell)?.body,
            CellBody::User { .. }
        );
        is_prompt.then(|| Hit {
            cell,
            row: self.cache.lay_out(self.transcript, self.theme, cell).gap() as u32,
        })
    }

    fn walk(&mut self, top: Option<Hit>, rows: i32) -> Option<Hit> {
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

    fn up(&mut self, mut at: Hit, mut rows: usize) -> Hit {
        loop {
            let within = at.row as usize;
            if rows <= within {
                at.row -= rows as u32;
                return at;
            }
            rows -= within;
            if at.cell == 0 {
                return Hit::default();
            }
            at.cell -= 1;
            at.row = self.height_of(at.cell) as u32;
        }
    }

    /// `None` is beyond the end.
    fn down(&mut self, mut at: Hit, mut rows: usize) -> Option<Hit> {
        while at.cell < self.count() {
            let left = self.height_of(at.cell).saturating_sub(at.row as usize);
            if rows < left {
                at.row += rows as u32;
                return Some(at);
            }
            rows -= left;
            at = Hit {
                cell: at.cell + 1,
                row: 0,
            };
        }
        None
    }

    /// Whether the last row is visible when the view begins at `top`.
    fn reaches_end(&mut self, top: Hit) -> bool {
        self.down(top, self.height).is_none()
    }

    /// The top of the view that ends with the last row.
    fn bottom(&mut self) -> Hit {
        let end = Hit {
            cell: self.count(),
            row: 0,
        };
        self.up(end, self.height)
    }

    fn visible(&mut self, top: Hit) -> Vec<Option<Hit>> {
        let mut hits = Vec::with_capacity(self.height);
        let mut at = top;
        while hits.len() < self.height && at.cell < self.count() {
            if (at.row as usize) < self.height_of(at.cell) {
                hits.push(Some(at));
                at.row += 1;
            } else {
                at = Hit {
                    cell: at.cell + 1,
                    row: 0,
                };
            }
        }
        hits.resize(self.height, None);
        hits
    }

    fn report(&mut self, top: Hit, follows: bool, hits: Vec<Option<Hit>>) -> Drawn {
        let last = hits
            .iter()
            .rev()
            .flatten()
            .next()
            .copied()
            .unwrap_or_default();
        let last = Hit {
            row: last.row + 1,
            ..last
        };
        let before_end = self.transcript.seen();
        let seen = if follows || (last.cell, last.row) > (before_end.cell, before_end.row) {
            last
        } else {
            before_end
        };
        let heights = &self.cache.heights;
        let total = heights.total();
        let rows_to = |hit: Hit| {
            if hit.cell >= heights.len() {
                return total;
            }
            heights.before(hit.cell) + u64::from(hit.row.min(heights.get(hit.cell)))
        };
        let below = |hit: Hit| total.saturating_sub(rows_to(hit)) as usize;
        let (hidden_below, new_below) = if follows {
            (0, 0)
        } else {
            (below(last), below(seen))
        };
        let position = if follows {
            Position::Follow
        } else {
            Position::At(self.anchor(top))
        };
        Drawn {
            position,
            hidden_below,
            new_below: new_below.min(hidden_below),
            hits,
            seen,
        }
    }

    fn anchor(&self, top: Hit) -> Anchor {
        let row = self
            .cache
            .rows(top.cell)
            .and_then(|rows| rows.get(top.row as usize));
        Anchor {
            cell: top.cell,
            row: top.row,
            byte: row.map_or(0, |row| row.byte),
            width: self.cache.width,
        }
    }
}
