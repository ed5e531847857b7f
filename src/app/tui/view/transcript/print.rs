//! Rows to print for good, each once and in order, and the number of rows that may still change.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::cache::TranscriptCache;
use super::draw::{paint, paint_pictures};
use super::links::paint_links;
use super::rows::CellRows;
use crate::app::tui::text::link::LinkTable;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{
    Anchor, CellBody, Neighbor, RowRef, Transcript, cell_at, page_of,
};

/// Maximum rows printed in one frame.
const AT_ONCE: usize = 400;

/// How much of a conversation was printed: up to a row of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    at: Anchor,
}

/// Which of the unprinted rows can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Rows that won't change any more.
    Settled {
        /// Whether a run is active; the last cells may become part of it.
        is_running: bool,
        /// Whether to wait for the colors of code.
        waits_for_colors: bool,
    },
    /// Everything, because nothing will be printed later.
    All,
    /// Nothing yet.
    Nothing,
}

#[derive(Debug, Default)]
pub struct Unprinted {
    pub rows: Vec<RowRef>,
    pub next: Printed,
    pub live: usize,
    /// Whether more rows are ready than one frame prints.
    pub has_more: bool,
    /// The page that must be read before the rows after it can be printed.
    pub unread: Option<usize>,
    /// Whether the first row that isn't ready has code without colors.
    pub lacks_colors: bool,
}

impl Printed {
    /// This conversation wasn't printed yet.
    pub fn before(transcript: &Transcript) -> Self {
        let mut cell = 0;
        // Older pages aren't read for this.
        while let Neighbor::Unread(_) = transcript.cells().at_or_after(cell) {
            cell = cell_at(transcript.cells().pages().len() - 1, 0);
        }
        Self::up_to(cell)
    }

    /// Everything before this cell was printed.
    pub fn up_to(cell: usize) -> Self {
        let at = Anchor {
            cell,
            ..Anchor::default()
        };
        Self { at }
    }

    /// The page of the first unprinted row.
    pub fn page(self) -> usize {
        page_of(self.at.cell)
    }
}

/// The unprinted rows at this width.
pub fn unprinted(
    transcript: &Transcript,
    cache: &mut TranscriptCache,
    theme: &Theme,
    width: u16,
    printed: Printed,
    ready: Ready,
) -> Unprinted {
    cache.begin(transcript, theme, width);
    let mut found = Unprinted {
        next: printed,
        ..Unprinted::default()
    };
    let settled = match ready {
        Ready::All => transcript.end(),
        Ready::Nothing => printed.at.cell,
        Ready::Settled { is_running, .. } => transcript.settled_before(printed.at.cell, is_running),
    };
    let waits = matches!(ready, Ready::Settled { waits_for_colors, .. } if waits_for_colors);
    let mut is_open = false;
    let mut cell = printed.at.cell;
    loop {
        let at = match transcript.cells().at_or_after(cell) {
            Neighbor::Cell(at) => at,
            Neighbor::Unread(page) => {
                // The page was dropped from memory while the full screen was in use. Until it is read,
                // the rows that may still change are unknown.
                found.unread = (!found.has_more && !is_open).then_some(page);
                found.live = 0;
                break;
            }
            Neighbor::None => break,
        };
        let is_settled = at < settled;
        let body = transcript.cell(at).map(|cell| &cell.body);
        let grows = matches!(body, Some(CellBody::Assistant { .. }));
        let rows = cache.lay_out(transcript, theme, at);
        let from = if at == printed.at.cell {
            first_unprinted(rows, printed.at, width)
        } else {
            0
        };
        let len = rows.len();
        let closed = match (is_open, is_settled) {
            (true, _) => from,
            (false, true) => len,
            (false, false) if grows && ready != Ready::Nothing => rows.closed().clamp(from, len),
            (false, false) => from,
        };
        let room = AT_ONCE.saturating_sub(found.rows.len());
        let mut to = closed.min(from + room);
        found.has_more |= to < closed;
        if waits && let Some(plain) = cache.first_plain(at, from..to) {
            to = plain;
            found.lacks_colors = true;
        }
        // Printed rows can't be completed later, so wait at the end, when nothing is printed later.
        if ready == Ready::All {
            while cache.first_lacking(at, from..to).is_some() && cache.pictures.wait() {}
        } else if let Some(lacking) = cache.first_lacking(at, from..to) {
            to = lacking;
        }
        found.rows.extend((from..to).map(|row| RowRef::of(at, row)));
        if to > from {
            let last = cache.row(RowRef::of(at, to - 1));
            found.next.at = Anchor {
                cell: at,
                row: to as u32,
                byte: last.map_or(0, |row| row.source.end),
                width,
            };
        }
        if is_open || to < len || !is_settled {
            is_open = true;
            found.live += len - to;
        } else {
            found.next = Printed::up_to(at + 1);
        }
        cell = at + 1;
    }
    found
}

/// Draws the rows in a new buffer.
pub fn print(
    rows: &[RowRef],
    transcript: &Transcript,
    cache: &mut TranscriptCache,
    links: &mut LinkTable,
    width: u16,
) -> Buffer {
    let area = Rect::new(0, 0, width, rows.len() as u16);
    let mut buffer = Buffer::empty(area);
    paint(cache, rows, area, &mut buffer);
    paint_pictures(cache, rows, area, &mut buffer);
    paint_links(transcript, cache, links, rows, area, &mut buffer);
    buffer
}

/// The first unprinted row of a cell, whose text may have changed since.
fn first_unprinted(rows: &CellRows, printed: Anchor, width: u16) -> usize {
    let row = printed.row as usize;
    let Some(last) = row.checked_sub(1) else {
        return 0;
    };
    let last = rows.get(last).filter(|_| printed.width == width);
    if last.is_some_and(|last| last.source.end == printed.byte) {
        return row;
    }
    let is_new = |row: &usize| {
        rows.get(*row)
            .is_some_and(|row| row.has_source() && row.source.start >= printed.byte)
    };
    let first = (0..rows.len()).find(is_new).unwrap_or(rows.len());
    // Includes the blank row above.
    let above = first.checked_sub(1).and_then(|above| rows.get(above));
    first - usize::from(above.is_some_and(|above| above.text.is_empty()))
}
