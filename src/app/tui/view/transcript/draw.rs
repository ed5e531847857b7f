//! One frame of the transcript: resolves scrolling, lays out the visible cells, draws their rows. It
//! works from the position outwards and never looks at invisible cells.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::cache::TranscriptCache;
use super::find;
use super::rows::CellRows;
use super::select::{self, Selector};
use crate::app::tui::picture::is_marked;
use crate::app::tui::text::Opens;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{
    Drawn, Neighbor, Position, RowRef, ScrollBy, Search, Transcript, cell_at, page_of, place_of,
};

/// The next page is read when so few cells in memory are left.
const CELLS_AHEAD: usize = 12;

/// Draws the visible part of the transcript in `area`, which must be blank.
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
            // Scrolling to the end needs no rows in between.
            position: if transcript.is_at_end() {
                Position::Follow
            } else {
                transcript.viewport().position()
            },
            seen: transcript.viewport().drawn.seen,
            ..Drawn::default()
        };
    }
    cache.begin(transcript, theme, area.width);
    let mut frame = Frame {
        cache,
        transcript,
        theme,
        height: usize::from(area.height),
        unread: None,
        waiting: Vec::new(),
    };
    let selected = frame.selector().resolve();
    let (top, follows) = frame.resolve();
    let (top, follows) = frame.keep_in_sight(selected.caret_row, (top, follows));
    let rows = frame.visible(top);
    frame.look_ahead(&rows);
    let mut drawn = frame.report(top, follows, rows);
    drawn.caret_at = selected
        .caret
        .and_then(|caret| frame.selector().caret_at(caret, &drawn.rows));
    let marked = selected.selection.and_then(|it| frame.selector().mark(it));
    paint(cache, &drawn.rows, area, buffer);
    if let Some(search) = transcript.search() {
        let rows = &drawn.rows;
        find::paint(transcript, search, cache, rows, (area, theme), buffer);
    }
    if let Some(marked) = marked {
        select::paint(cache, marked, &drawn.rows, (area, theme), buffer);
    }
    paint_pictures(cache, &drawn.rows, area, buffer);
    if let Some((x, y)) = drawn.caret_at.filter(|(x, _)| *x < area.width) {
        let cell = &mut buffer[(area.x + x, area.y + y)];
        // The color of a picture's cells identifies the picture.
        if is_marked(cell) {
            cell.set_symbol(" ");
        }
        cell.set_style(theme.pill);
    }
    (drawn.selection, drawn.copied) = (selected.selection, selected.copied);
    (drawn.named, drawn.caret) = (selected.named, selected.caret);
    cache.end(transcript);
    drawn
}

/// Paints the visible rows, and requests the colors of the code in them.
pub(super) fn paint(cache: &mut TranscriptCache, rows: &[RowRef], area: Rect, buffer: &mut Buffer) {
    for (y, at) in (area.y..).zip(rows) {
        let (rows, code) = cache.visible(at.cell);
        let Some(row) = rows.and_then(|rows| rows.get(at.row as usize)) else {
            continue;
        };
        if let Some(place) = row.code {
            code.see((at.cell, place.block));
        }
        let colors = code.colors(at.cell, &row);
        row.draw(buffer, (area.x, y), area.width, colors);
    }
}

pub(super) fn paint_pictures(
    cache: &mut TranscriptCache,
    rows: &[RowRef],
    area: Rect,
    buffer: &mut Buffer,
) {
    for (y, at) in (area.y..).zip(rows) {
        cache.paint_picture(*at, ((area.x, y), area.width), buffer);
    }
}

pub(super) struct Frame<'a> {
    pub(super) cache: &'a mut TranscriptCache,
    pub(super) transcript: &'a Transcript,
    theme: &'a Theme,
    height: usize,
    unread: Option<usize>,
    /// The rest of a scroll that needs the page.
    waiting: Vec<ScrollBy>,
}

enum Down {
    At(RowRef),
    /// The last row before an unread page, and the rows left to scroll.
    Unread(RowRef, usize),
    End,
}

impl Frame<'_> {
    /// Requests a page in order to scroll further by `by`.
    pub(super) fn wait(&mut self, page: usize, by: ScrollBy) {
        self.unread = Some(page);
        self.waiting = vec![by];
    }

    fn selector(&mut self) -> Selector<'_> {
        Selector {
            transcript: self.transcript,
            cache: self.cache,
            theme: self.theme,
        }
    }

    /// Scrolls until a row is visible. Key hints cover the last row.
    fn keep_in_sight(&mut self, row: Option<RowRef>, view: (RowRef, bool)) -> (RowRef, bool) {
        let Some(row) = row else { return view };
        let shown = self.visible(view.0);
        let last = self.height.saturating_sub(1).max(1);
        if shown.iter().take(last).any(|at| *at == row) {
            return view;
        }
        if row < view.0 {
            return (row, false);
        }
        (self.up(row, self.height.saturating_sub(2)).0, false)
    }

    pub(super) fn rows_of(&mut self, cell: usize) -> &CellRows {
        self.cache.lay_out(self.transcript, self.theme, cell)
    }

    fn height_of(&mut self, cell: usize) -> usize {
        self.rows_of(cell).len()
    }

    /// The top row after all scrolling, and whether the view follows the end.
    fn resolve(&mut self) -> (RowRef, bool) {
        let viewport = self.transcript.viewport();
        let mut top = match viewport.position() {
            Position::Follow => None,
            Position::At(anchor) => Some(self.find(anchor)),
        };
        let mut scrolls = viewport.pending_scrolls.iter();
        for scroll in scrolls.by_ref() {
            top = self.scroll(top, *scroll);
            if !self.waiting.is_empty() {
                break;
            }
        }
        self.waiting.extend(scrolls);
        match top {
            Some(top) if viewport.is_held() => (top, false),
            Some(top) if !matches!(self.down(top, self.height), Down::End) => (top, false),
            _ => (self.bottom(), true),
        }
    }

    /// `None` is the end.
    fn scroll(&mut self, top: Option<RowRef>, by: ScrollBy) -> Option<RowRef> {
        let page = self.height.saturating_sub(2).max(1) as i32;
        match by {
            ScrollBy::Rows(rows) => self.walk(top, rows),
            ScrollBy::Pages(pages) => self.walk(top, pages.saturating_mul(page)),
            ScrollBy::Top => match self.transcript.cells().at_or_after(0) {
                Neighbor::Unread(page) => {
                    self.wait(page, by);
                    top.or_else(|| Some(self.bottom()))
                }
                Neighbor::Cell(first) => Some(RowRef::top_of(first)),
                Neighbor::None => None,
            },
            ScrollBy::End => None,
            ScrollBy::PreviousPrompt => {
                let top = top.unwrap_or_else(|| self.bottom());
                let at_prompt = self.prompt_top(top.cell);
                // Within a long prompt, the previous prompt is its first row.
                if let Some(prompt) = at_prompt.filter(|prompt| prompt.row < top.row) {
                    return Some(prompt);
                }
                Some(self.prompt_above(top))
            }
            ScrollBy::NextPrompt => self.prompt_below(top?),
            ScrollBy::Show { cell, byte } => {
                if let Neighbor::Unread(page) = self.transcript.cells().at_or_after(cell) {
                    self.wait(page, by);
                    return top.or_else(|| Some(self.bottom()));
                }
                Some(self.show(top, cell, byte))
            }
        }
    }

    /// The top row that shows a byte of a cell's source: the current one, or one above it.
    fn show(&mut self, top: Option<RowRef>, cell: usize, byte: Option<u32>) -> RowRef {
        let top = top.unwrap_or_else(|| self.bottom());
        let pattern = self.transcript.search().and_then(Search::pattern);
        let rows = self.rows_of(cell);
        let has_match = |row: &usize| {
            let row = rows.get(*row).filter(|row| !row.has_source());
            pattern.is_some_and(|it| row.is_some_and(|row| it.regex.is_match(&row.text)))
        };
        let row = match byte {
            Some(byte) => rows.first_row(byte).unwrap_or(0),
            // The match is in the title, or in rows below it that show the call.
            None => (0..rows.len()).find(has_match).unwrap_or(rows.gap()),
        };
        let at = RowRef::of(cell, row);
        // The search line covers the last row.
        let last = self.height.saturating_sub(2);
        if self.visible(top).iter().take(last).any(|row| *row == at) {
            return top;
        }
        self.up(at, self.height / 3).0
    }

    fn walk(&mut self, top: Option<RowRef>, rows: i32) -> Option<RowRef> {
        let top = match top {
            Some(top) => top,
            None if rows >= 0 => return None,
            None => self.bottom(),
        };
        if rows < 0 {
            let (top, left) = self.up(top, rows.unsigned_abs() as usize);
            if let (Some(page), 1..) = (self.unread, left) {
                self.wait(page, ScrollBy::Rows(-(left as i32)));
            }
            return Some(top);
        }
        match self.down(top, rows.unsigned_abs() as usize) {
            Down::At(top) => Some(top),
            Down::Unread(top, left) => {
                if let Some(page) = self.unread {
                    self.wait(page, ScrollBy::Rows(left as i32));
                }
                Some(top)
            }
            Down::End => None,
        }
    }

    /// The row `rows` further up, and the rows left over because a page isn't read.
    fn up(&mut self, mut at: RowRef, mut rows: usize) -> (RowRef, usize) {
        loop {
            let within = at.row as usize;
            if rows <= within {
                at.row -= rows as u32;
                return (at, 0);
            }
            rows -= within;
            at.row = 0;
            match self.transcript.cells().before(at.cell) {
                Neighbor::Cell(before) => at.cell = before,
                Neighbor::Unread(page) => {
                    self.unread = Some(page);
                    return (at, rows);
                }
                Neighbor::None => return (at, 0),
            }
            at.row = self.height_of(at.cell) as u32;
        }
    }

    fn down(&mut self, mut at: RowRef, mut rows: usize) -> Down {
        let mut last = at;
        loop {
            match self.transcript.cells().at_or_after(at.cell) {
                Neighbor::Cell(cell) if cell == at.cell => {}
                Neighbor::Cell(cell) => at = RowRef::top_of(cell),
                Neighbor::Unread(page) => {
                    self.unread = Some(page);
                    return Down::Unread(last, rows);
                }
                Neighbor::None => return Down::End,
            }
            let height = self.height_of(at.cell);
            let left = height.saturating_sub(at.row as usize);
            if rows < left {
                at.row += rows as u32;
                return Down::At(at);
            }
            rows -= left;
            if height > 0 {
                last = RowRef::of(at.cell, height - 1);
            }
            at = RowRef::top_of(at.cell + 1);
        }
    }

    /// The top row of the view that ends with the last row.
    pub(super) fn bottom(&mut self) -> RowRef {
        self.up(RowRef::top_of(self.transcript.end()), self.height)
            .0
    }

    fn visible(&mut self, top: RowRef) -> Vec<RowRef> {
        let mut rows = Vec::with_capacity(self.height);
        let mut at = top;
        while rows.len() < self.height {
            match self.transcript.cells().at_or_after(at.cell) {
                Neighbor::Cell(cell) if cell == at.cell => {}
                Neighbor::Cell(cell) => at = RowRef::top_of(cell),
                Neighbor::Unread(_) | Neighbor::None => break,
            }
            if (at.row as usize) < self.height_of(at.cell) {
                rows.push(at);
                at.row += 1;
            } else {
                at = RowRef::top_of(at.cell + 1);
            }
        }
        rows
    }

    /// Requests the page above or below before the user gets there.
    fn look_ahead(&mut self, rows: &[RowRef]) {
        let cells = self.transcript.cells();
        let unread = |neighbor| match neighbor {
            Neighbor::Unread(page) => Some(page),
            _ => None,
        };
        let above = || {
            let first = rows.first()?.cell;
            let is_near = place_of(first) < CELLS_AHEAD;
            unread(cells.before(cell_at(page_of(first), 0))).filter(|_| is_near)
        };
        let below = || unread(cells.at_or_after(rows.last()?.cell + CELLS_AHEAD));
        self.unread = self.unread.or_else(above).or_else(below);
    }

    fn report(&mut self, top: RowRef, follows: bool, rows: Vec<RowRef>) -> Drawn {
        let mut last = rows.last().copied().unwrap_or_default();
        last.row += 1;
        let seen = self.seen().max(last);
        let total = self.cache.rows();
        let below = |row: RowRef| total.saturating_sub(self.cache.rows_to(row)) as usize;
        let (hidden_below, new_below) = if follows {
            (0, 0)
        } else {
            (below(last), below(seen))
        };
        let row = |at: &RowRef| self.cache.row(*at);
        let opens = |at: &RowRef| row(at).map_or(Opens::Nothing, |row| row.opens);
        let has_source = |at: &RowRef| row(at).is_some_and(|row| row.is_of_source());
        Drawn {
            opens: rows.iter().map(opens).collect(),
            has_source: rows.iter().map(has_source).collect(),
            position: if follows {
                Position::Follow
            } else {
                Position::At(self.anchor_at(top))
            },
            hidden_below,
            new_below: new_below.min(hidden_below),
            rows,
            seen: self.anchor_behind(if follows { last } else { seen }),
            unread: self.unread,
            waiting: std::mem::take(&mut self.waiting),
            ..Drawn::default()
        }
    }
}
