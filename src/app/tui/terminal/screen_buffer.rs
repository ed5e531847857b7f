//! Two buffers and the difference between them, as bytes for the terminal.
//!
//! ratatui's own `Terminal` makes three write calls per frame and can't scroll by hardware. This
//! makes one buffer of bytes per frame, and none without a change. The terminal moves rows that
//! only moved (a scroll region and one command). So a streamed line costs about 200 bytes instead
//! of thousands. `terminal` writes the bytes.

use std::io::Write as _;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Rect, Size};

use super::cell_writer::{RowPlace, bound_symbols, write_row};
use super::row_move::{Move, find_move};
use crate::app::tui::text::link::LinkTable;

/// The shown buffer, the painted buffer, and the way between them.
#[derive(Debug)]
pub struct ScreenBuffer {
    shown: Buffer,
    next: Buffer,
    /// Whether the terminal's content is unknown, so that everything must be written.
    stale: bool,
    cursor: Option<(u16, u16)>,
}

/// The outcome of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    pub(crate) rows: usize,
    /// Whether it replaced nearly the whole screen, so that frames should come slower.
    pub heavy: bool,
}

impl ScreenBuffer {
    /// A buffer of this size for a terminal with unknown content.
    pub fn new(size: Size) -> Self {
        let area = Rect::new(0, 0, size.width, size.height);
        Self {
            shown: Buffer::empty(area),
            next: Buffer::empty(area),
            stale: true,
            cursor: None,
        }
    }

    pub(crate) fn size(&self) -> Size {
        self.next.area.as_size()
    }

    /// Changes the size; the next frame is written in full.
    pub fn resize(&mut self, size: Size) {
        *self = Self::new(size);
    }

    /// Forgets the terminal's content, because another program wrote to it.
    pub fn forget(&mut self) {
        self.stale = true;
    }

    /// An empty buffer to paint the next frame into.
    pub fn begin(&mut self) -> &mut Buffer {
        self.next.reset();
        &mut self.next
    }

    /// Appends to `out` the bytes that turn the last frame into the painted one, with the cursor at
    /// `cursor`, or hidden. Appends nothing if nothing changed. Cells may carry marks of `links`.
    pub fn finish(
        &mut self,
        cursor: Option<(u16, u16)>,
        links: &LinkTable,
        out: &mut Vec<u8>,
    ) -> FrameCost {
        let start = out.len();
        bound_symbols(&mut self.next);
        out.extend_from_slice(b"\x1b[?2026h\x1b[?25l");
        let begun = out.len();
        if self.stale {
            out.extend_from_slice(b"\x1b[0m\x1b[r\x1b[2J");
            self.shown.reset();
        } else {
            self.scroll(out);
        }
        let rows = self.write_difference(links, out);
        let cost = FrameCost {
            rows,
            heavy: rows * 10 >= usize::from(self.size().height) * 7 && rows > 4,
        };
        if out.len() == begun && cursor == self.cursor {
            out.truncate(start);
            return FrameCost::default();
        }
        if let Some((x, y)) = cursor {
            let _ = write!(out, "\x1b[{};{}H\x1b[?25h", y + 1, x + 1);
        }
        out.extend_from_slice(b"\x1b[?2026l");
        self.stale = false;
        self.cursor = cursor;
        std::mem::swap(&mut self.shown, &mut self.next);
        cost
    }

    /// Writes the changed cells; returns the number of their rows.
    fn write_difference(&mut self, links: &LinkTable, out: &mut Vec<u8>) -> usize {
        let width = usize::from(self.next.area.width);
        if width == 0 {
            return 0;
        }
        let mut rows = 0;
        let lines = self
            .shown
            .content
            .chunks(width)
            .zip(self.next.content.chunks(width));
        for (y, (shown, next)) in lines.enumerate() {
            if shown == next {
                continue;
            }
            rows += 1;
            write_row(RowPlace::Row(y as u16), shown, next, links, out);
        }
        rows
    }

    /// Moves rows by hardware if that leaves little to write.
    fn scroll(&mut self, out: &mut Vec<u8>) {
        let Some(Move { top, bottom, by }) = find_move(
            &self.shown.content,
            &self.next.content,
            usize::from(self.next.area.width),
        ) else {
            return;
        };
        // Scrolls up with a line feed on the last row of a region, or down with a reverse index on
        // its first row. Some terminals don't know `CSI S`, and some leave old rows when lines are
        // deleted.
        let (first, last, count) = (top + 1, bottom, by.unsigned_abs());
        let (row, step) = if by > 0 {
            (last, "\n")
        } else {
            (first, "\x1bM")
        };
        let steps = step.repeat(count);
        let _ = write!(out, "\x1b[0m\x1b[{first};{last}r\x1b[{row};1H{steps}\x1b[r");
        let width = usize::from(self.shown.area.width);
        let rows = &mut self.shown.content[top * width..bottom * width];
        let moved = by.unsigned_abs() * width;
        if by > 0 {
            rows.rotate_left(moved);
            let kept = rows.len() - moved;
            rows[kept..].fill(Cell::EMPTY);
        } else {
            rows.rotate_right(moved);
            rows[..moved].fill(Cell::EMPTY);
        }
    }
}
