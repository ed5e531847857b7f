//! Converts places in the conversation to rows of this frame, and back. A row number is valid only
//! while the rows are the same; a byte of the source is always valid.

use std::borrow::Cow;

use super::draw::Frame;
use crate::app::tui::text::Row;
use crate::app::tui::text::row_log::RowSource;
use crate::app::tui::transcript::{Anchor, Position, RowRef};

impl Frame<'_> {
    pub(super) fn find(&mut self, anchor: Anchor) -> RowRef {
        if self.transcript.cell(anchor.cell).is_none() {
            return self.bottom();
        }
        let width = self.cache.width;
        let rows = self.rows_of(anchor.cell);
        // Rows can also change at the same width, for example at the end of an answer.
        let is_there = |row: RowSource| row.source.start == anchor.byte;
        let row = anchor.row as usize;
        let row = match anchor.width {
            0 => row,
            known if known == width && rows.shown(row).is_some_and(is_there) => row,
            _ => rows.row_at(anchor.byte),
        };
        RowRef::of(anchor.cell, row.min(rows.len().saturating_sub(1)))
    }

    /// The end of the rows the user has seen, at the current width.
    pub(super) fn seen(&mut self) -> RowRef {
        let seen = self.transcript.viewport().drawn.seen;
        let mut at = RowRef::of(seen.cell, seen.row as usize);
        if !self.is_seen_to(at) && self.transcript.cell(seen.cell).is_some() {
            let rows = self.rows_of(seen.cell);
            at.row = rows.rows_before(seen.byte) as u32;
        }
        at
    }

    /// Whether the rows the user has seen end before this row, as far as the cached rows tell.
    fn is_seen_to(&self, at: RowRef) -> bool {
        let seen = self.transcript.viewport().drawn.seen;
        let last = RowRef::of(at.cell, at.row.saturating_sub(1) as usize);
        let ends_there = |row: Cow<'_, Row>| {
            let source = &row.source;
            seen.byte == source.end || source.contains(&seen.byte.saturating_sub(1))
        };
        (at.cell, at.row, self.cache.width) == (seen.cell, seen.row, seen.width)
            && self.cache.row(last).is_none_or(ends_there)
    }

    /// The place after the last row seen.
    pub(super) fn anchor_behind(&mut self, seen: RowRef) -> Anchor {
        if self.is_seen_to(seen) {
            return self.transcript.viewport().drawn.seen;
        }
        let mut byte = 0;
        if self.transcript.cell(seen.cell).is_some() {
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

    /// The anchor of the top row. The one of another width stays until the user scrolls, because a wider
    /// row may begin earlier: each change of the width would move the view up.
    pub(super) fn anchor_at(&mut self, top: RowRef) -> Anchor {
        match self.transcript.viewport().position() {
            Position::At(anchor)
                if ![0, self.cache.width].contains(&anchor.width) && self.find(anchor) == top =>
            {
                anchor
            }
            _ => self.anchor(top),
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
