//! A few rows at the bottom of the normal screen, redrawn in place, and rows printed for good above
//! them, as bytes for the terminal.
//!
//! It doesn't know where on the screen the region is: it moves relative to the cursor, and line
//! feeds on the last row make room. Rows that leave at the top go to the terminal's own scrollback.
//! It uses no scroll region, no absolute row, no cursor query.

use std::io::Write as _;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Rect, Size};

use super::cell_writer::{RowPlace, bound_symbols, write_row};
use super::row_move::{Move, find_move};
use super::screen_buffer::FrameCost;
use crate::app::tui::text::link::LinkTable;

/// Clears the cursor's row and all below, but not from the first column. Some terminals (tmux) save
/// rows cleared from the top left of the screen to their scrollback.
const CLEAR: &[u8] = b"\x1b[0m\x1b[2K\x1b[2G\x1b[J\r";

/// How a terminal treats rows that become too long when it gets narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflow {
    /// Wraps them.
    Wraps,
    /// Cuts them off.
    Cuts,
}

/// The region as shown, the region as painted, and the way between them.
#[derive(Debug)]
pub struct InlineBuffer {
    shown: Buffer,
    next: Buffer,
    /// The cursor's place within the shown region.
    at: (u16, u16),
    /// The last position of the caret, if it was shown.
    cursor: Option<(u16, u16)>,
    /// Whether the terminal was resized since, or may have lost rows.
    is_stale: bool,
    reflow: Reflow,
}

impl InlineBuffer {
    /// An empty region at the cursor's row.
    pub fn new(reflow: Reflow) -> Self {
        let mut buffer = Self {
            shown: Buffer::default(),
            next: Buffer::default(),
            at: (0, 0),
            cursor: None,
            is_stale: true,
            reflow,
        };
        buffer.left();
        buffer
    }

    pub(crate) fn height(&self) -> u16 {
        if self.is_stale {
            0
        } else {
            self.shown.area.height
        }
    }

    /// Rows of the region below the cursor.
    pub fn rows_below(&self) -> u16 {
        self.shown.area.height.saturating_sub(self.at.1 + 1)
    }

    /// The terminal was resized or may have lost rows: the next frame is written in full.
    pub fn forget(&mut self) {
        self.is_stale = true;
    }

    /// An empty buffer of this size to paint the region into.
    pub fn begin(&mut self, size: Size) -> &mut Buffer {
        let area = Rect::new(0, 0, size.width, size.height.max(1));
        self.next.resize(area);
        self.next.reset();
        &mut self.next
    }

    /// Appends bytes that remove the region and leave the cursor at its first row. The next frame
    /// starts wherever the cursor is then.
    pub fn leave(&mut self, width: u16, out: &mut Vec<u8>) {
        self.go_to_top(width, out);
        out.extend_from_slice(CLEAR);
        out.extend_from_slice(b"\x1b[?25h");
        self.left();
    }

    /// Another program uses or used the terminal.
    fn left(&mut self) {
        self.shown = Buffer::empty(Rect::new(0, 0, 0, 1));
        self.at = (0, 0);
        self.cursor = None;
        self.is_stale = true;
    }

    /// Appends to `out` the bytes that print `printed` above the region and paint the region. The
    /// cursor is at `cursor`, or hidden. Appends nothing if nothing changed. `printed` is as wide
    /// as the region; together they may be higher than the screen's `height`. Cells may carry marks
    /// of `links`.
    pub fn finish(
        &mut self,
        printed: &mut Buffer,
        cursor: Option<(u16, u16)>,
        height: u16,
        links: &LinkTable,
        out: &mut Vec<u8>,
    ) -> FrameCost {
        let start = out.len();
        bound_symbols(printed);
        bound_symbols(&mut self.next);
        out.extend_from_slice(b"\x1b[?2026h\x1b[?25l\x1b[?7l");
        let begun = out.len();
        let width = self.next.area.width;
        if self.is_stale || self.shown.area.width != width {
            self.go_to_top(width, out);
            self.blank(width, out);
        }
        let rows = u32::from(printed.area.height) + u32::from(self.next.area.height);
        if rows > u32::from(height.max(1)) {
            self.print_all(printed, links, out);
        }
        let cost = self.write(printed, links, out);
        if out.len() == begun && cursor == self.cursor {
            out.truncate(start);
            return FrameCost::default();
        }
        let (x, y) = cursor.unwrap_or((0, self.at.1));
        self.go_to_row(y, out);
        let _ = write!(out, "\x1b[{}G", x + 1);
        self.at.0 = x;
        out.extend_from_slice(b"\x1b[?7h");
        if cursor.is_some() {
            out.extend_from_slice(b"\x1b[?25h");
        }
        out.extend_from_slice(b"\x1b[?2026l");
        self.cursor = cursor;
        self.is_stale = false;
        FrameCost {
            heavy: cost * 10 >= usize::from(height) * 7 && cost > 4,
            rows: cost,
        }
    }

    /// Goes to the first row of the shown region, in a terminal now `width` columns wide.
    fn go_to_top(&mut self, width: u16, out: &mut Vec<u8>) {
        let (x, y) = self.at;
        let mut up = usize::from(y);
        if self.reflow == Reflow::Wraps && width > 0 && width < self.shown.area.width {
            let columns = usize::from(width);
            let rows = self
                .shown
                .content
                .chunks(usize::from(self.shown.area.width));
            let rows = rows.take(usize::from(y));
            up = rows.map(|row| used(row).div_ceil(columns).max(1)).sum();
            up += usize::from(x) / columns;
        }
        if up > 0 {
            let _ = write!(out, "\x1b[{up}A");
        }
        out.push(b'\r');
        self.at = (0, 0);
    }

    /// Clears from the cursor on, which then is the first row of the region.
    fn blank(&mut self, width: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(CLEAR);
        self.shown = Buffer::empty(Rect::new(0, 0, width, 1));
        self.at = (0, 0);
    }

    /// Prints rows line by line if they and the region are higher than the screen.
    fn print_all(&mut self, printed: &mut Buffer, links: &LinkTable, out: &mut Vec<u8>) {
        let width = usize::from(printed.area.width);
        if width == 0 || printed.area.height == 0 {
            return;
        }
        self.go_to_row(0, out);
        out.push(b'\r');
        self.blank(printed.area.width, out);
        let blank = vec![Cell::EMPTY; width];
        for row in printed.content.chunks(width) {
            write_row(RowPlace::Current, &blank, row, links, out);
            out.extend_from_slice(b"\r\n");
        }
        printed.resize(Rect::new(0, 0, printed.area.width, 0));
    }

    /// Makes room and writes the changed rows; returns how many.
    fn write(&mut self, printed: &Buffer, links: &LinkTable, out: &mut Vec<u8>) -> usize {
        let width = usize::from(self.next.area.width);
        if width == 0 {
            return 0;
        }
        let region = std::mem::take(&mut self.next);
        let wanted = [printed.content.as_slice(), &region.content].concat();
        let rows: Vec<&[Cell]> = wanted.chunks(width).collect();
        let before = usize::from(self.shown.area.height);
        if let Some(more @ 1..) = rows.len().checked_sub(before) {
            self.insert(more, &rows, out);
        }
        if rows.len() >= before {
            self.scroll(&wanted, width, out);
        }
        let mut count = 0;
        for (y, next) in rows.iter().enumerate() {
            let from = y * width;
            let shown: Vec<Cell> = self.shown.content[from..from + width].to_vec();
            if shown == **next {
                continue;
            }
            count += 1;
            self.go_to_row(y as u16, out);
            write_row(RowPlace::Current, &shown, next, links, out);
        }
        if rows.len() < before {
            self.go_to_row(rows.len() as u16, out);
            out.extend_from_slice(b"\r\x1b[0m\x1b[J");
        }
        // Printed rows are out of reach now.
        let left = i32::from(self.at.1) - i32::from(printed.area.height);
        if left < 0 {
            let _ = write!(out, "\x1b[{}B", -left);
        }
        self.at.1 = left.max(0) as u16;
        self.next = std::mem::replace(&mut self.shown, region);
        count
    }

    /// Inserts `more` rows where most of the shown rows can stay.
    fn insert(&mut self, more: usize, rows: &[&[Cell]], out: &mut Vec<u8>) {
        let width = usize::from(self.shown.area.width);
        let shown: Vec<&[Cell]> = self.shown.content.chunks(width).collect();
        let before = shown.len();
        // For each place: how many rows match below the new ones, then above them.
        let mut right = (0..before).filter(|y| shown[*y] == rows[y + more]).count();
        let mut best = (right, 0);
        for y in 0..before {
            right -= usize::from(shown[y] == rows[y + more]);
            right += usize::from(shown[y] == rows[y]);
            if right > best.0 {
                best = (right, y + 1);
            }
        }
        let at = best.1;
        self.go_to_row(before as u16 - 1, out);
        out.extend_from_slice(b"\x1b[0m");
        out.extend(std::iter::repeat_n(b'\n', more));
        self.at.1 += more as u16;
        if at < before {
            self.go_to_row(at as u16, out);
            let _ = write!(out, "\r\x1b[{more}L");
        }
        let cells = &mut self.shown.content;
        let from = at * width;
        cells.splice(from..from, std::iter::repeat_n(Cell::EMPTY, more * width));
        self.shown.area.height += more as u16;
    }

    /// Lets the terminal move rows that only moved, as in a long answer that grows.
    fn scroll(&mut self, wanted: &[Cell], width: usize, out: &mut Vec<u8>) {
        let Some(Move { top, bottom, by }) = find_move(&self.shown.content, wanted, width) else {
            return;
        };
        let count = by.unsigned_abs();
        let (deleted, inserted) = if by > 0 {
            (top, bottom - count)
        } else {
            (bottom - count, top)
        };
        self.go_to_row(deleted as u16, out);
        let _ = write!(out, "\x1b[0m\r\x1b[{count}M");
        self.go_to_row(inserted as u16, out);
        let _ = write!(out, "\r\x1b[{count}L");
        let cells = &mut self.shown.content;
        cells.drain(deleted * width..(deleted + count) * width);
        let at = inserted * width;
        cells.splice(at..at, std::iter::repeat_n(Cell::EMPTY, count * width));
    }

    fn go_to_row(&mut self, row: u16, out: &mut Vec<u8>) {
        let _ = match row.cmp(&self.at.1) {
            std::cmp::Ordering::Less => write!(out, "\x1b[{}A", self.at.1 - row),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => write!(out, "\x1b[{}B", row - self.at.1),
        };
        self.at.1 = row;
    }
}

/// Columns of a row up to its last non-blank.
fn used(row: &[Cell]) -> usize {
    let last = row.iter().rposition(|cell| *cell != Cell::EMPTY);
    last.map_or(0, |at| at + 1)
}
