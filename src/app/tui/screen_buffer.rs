//! Two buffers and the difference between them, as bytes for the terminal.
//!
//! ratatui's own `Terminal` makes three write calls a frame and cannot scroll by hardware; this
//! makes one buffer of bytes a frame, none when nothing changed. Rows that only moved are moved by
//! the terminal itself (a scroll region and one command): a streamed line then costs some 200
//! bytes instead of thousands. Writing the bytes is `terminal`'s business.

use std::io::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Rect, Size};

use super::cell_writer::{RowPlace, bound_symbols, write_row};
use super::text::link::LinkTable;

/// Rows that must agree after a move before the terminal is asked to scroll.
const WORTH_SCROLLING: usize = 3;

/// What the terminal shows, what it shall show, and the way from one to the other.
#[derive(Debug)]
pub struct ScreenBuffer {
    shown: Buffer,
    next: Buffer,
    /// Whether what the terminal shows is unknown: then everything is written.
    stale: bool,
    cursor: Option<(u16, u16)>,
}

/// What a frame came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    /// Rows of which something was written.
    pub rows: usize,
    /// Whether nearly the whole screen was replaced, so that frames should come slower.
    pub heavy: bool,
}

impl ScreenBuffer {
    /// A buffer of this size over a terminal of unknown content.
    pub fn new(size: Size) -> Self {
        let area = Rect::new(0, 0, size.width, size.height);
        Self {
            shown: Buffer::empty(area),
            next: Buffer::empty(area),
            stale: true,
            cursor: None,
        }
    }

    /// The size painted on.
    pub fn size(&self) -> Size {
        self.next.area.as_size()
    }

    /// Takes another size; everything is written at the next frame.
    pub fn resize(&mut self, size: Size) {
        *self = Self::new(size);
    }

    /// Forgets what the terminal shows (somebody else wrote on it).
    pub fn forget(&mut self) {
        self.stale = true;
    }

    /// An empty buffer to paint the next frame into.
    pub fn begin(&mut self) -> &mut Buffer {
        self.next.reset();
        &mut self.next
    }

    /// Appends to `out` what brings the terminal from the last frame to the painted one, with the
    /// cursor at `cursor`, or hidden. Appends nothing when nothing changed.
    pub fn finish(&mut self, cursor: Option<(u16, u16)>, out: &mut Vec<u8>) -> FrameCost {
        self.finish_linked(cursor, &LinkTable::default(), out)
    }

    /// The same, where cells may bear the marks of `links`.
    pub fn finish_linked(
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

    /// Writes the cells that differ; the number of rows they are on.
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

    /// Moves rows by hardware when that makes the rest of the work small, here and on the terminal.
    fn scroll(&mut self, out: &mut Vec<u8>) {
        let Some(Move { top, bottom, by }) = find_move(&self.shown, &self.next) else {
            return;
        };
        // A line feed on the last row of a region scrolls it up, a reverse index on its first row
        // down: the oldest way there is. Some terminals know no `CSI S`, and some leave old rows
        // standing when lines are deleted.
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

/// Rows `top..bottom` move up by `by` (down when negative).
#[derive(Debug, PartialEq, Eq)]
struct Move {
    top: usize,
    bottom: usize,
    by: isize,
}

/// The move that brings the most rows into place, when one is worth it.
fn find_move(shown: &Buffer, next: &Buffer) -> Option<Move> {
    let width = usize::from(next.area.width);
    let height = usize::from(next.area.height);
    if width == 0 || height < WORTH_SCROLLING {
        return None;
    }
    let differs = |y: usize| {
        shown.content[y * width..(y + 1) * width] != next.content[y * width..(y + 1) * width]
    };
    let top = (0..height).find(|&y| differs(y))?;
    let bottom = (top..height).rev().find(|&y| differs(y))? + 1;
    if bottom - top < WORTH_SCROLLING {
        return None;
    }
    let before = hashes(shown, top, bottom);
    let after = hashes(next, top, bottom);
    let best = best_move(&before, &after)?;
    Some(Move {
        top: top + best.top,
        bottom: top + best.bottom,
        by: best.by,
    })
}

/// The longest run of rows that are the same under one move, blank rows not counted.
fn best_move(before: &[Option<u64>], after: &[Option<u64>]) -> Option<Move> {
    let len = after.len();
    let mut best: Option<(usize, Move)> = None;
    for distance in 1..len {
        for by in [distance as isize, -(distance as isize)] {
            // `after[y] == before[y + by]` for y in the run.
            let (low, high) = if by > 0 {
                (0, len - distance)
            } else {
                (distance, len)
            };
            let (mut gain, mut start) = (0_usize, low);
            for y in low..=high {
                let from = y.wrapping_add_signed(by);
                if y < high && after[y] == before[from] {
                    // A row that stands right already gains nothing.
                    gain += usize::from(after[y].is_some() && after[y] != before[y]);
                    continue;
                }
                if gain >= WORTH_SCROLLING {
                    // The rows from which the others move away.
                    let (top, bottom, vacated) = if by > 0 {
                        (start, y + distance, y..y + distance)
                    } else {
                        (start - distance, y, start - distance..start)
                    };
                    // Rows that stood right and are wiped by the move must be written again.
                    let lost = vacated
                        .filter(|&y| after[y].is_some() && after[y] == before[y])
                        .count();
                    let gain = gain.saturating_sub(lost);
                    if gain >= WORTH_SCROLLING && best.as_ref().is_none_or(|(most, _)| gain > *most)
                    {
                        best = Some((gain, Move { top, bottom, by }));
                    }
                }
                (gain, start) = (0, y + 1);
            }
        }
    }
    best.map(|(_, best)| best)
}

/// A quick hash of each row's text; none for a blank row. A collision costs a needless scroll, never
/// a wrong cell.
fn hashes(buffer: &Buffer, top: usize, bottom: usize) -> Vec<Option<u64>> {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content[top * width..bottom * width].chunks(width);
    rows.map(|cells| {
        if cells.iter().all(|cell| *cell == Cell::EMPTY) {
            return None;
        }
        let bytes = cells.iter().flat_map(|cell| cell.symbol().bytes());
        Some(bytes.fold(0_u64, |hash, byte| {
            (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
        }))
    })
    .collect()
}
