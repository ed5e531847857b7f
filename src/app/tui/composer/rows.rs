//! The rows of the whole text: where each begins, kept up to date edit by edit.
//!
//! An edit lays out anew only the rows it touches and those behind them until a row begins where
//! one began before; all later starts are moved. So a key costs the same in a draft of ten lines
//! and of ten thousand.

use std::ops::Range;

use super::buffer::{Buffer, clusters};
use super::placeholders::Placeholders;
use super::wrap::{RowEnd, columns, row_end};

/// Characters looked at at once.
const WINDOW: usize = 4096;

/// Characters behind an edit that are laid out anew at most before rows are made to begin where
/// they began before. Only in a line longer than this, without a word in step, does that show: as
/// one short row, until the width changes.
const MAX_RELAID: usize = 8192;

/// The starts of all rows at one width.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    width: usize,
    /// In characters; at least one, the first is 0.
    starts: Vec<usize>,
}

impl Rows {
    /// The rows of an empty text.
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            starts: vec![0],
        }
    }

    /// The columns of a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Lays out everything at another width.
    pub(super) fn set_width(&mut self, width: usize, buffer: &Buffer, blocks: &Placeholders) {
        self.width = width;
        self.starts.truncate(1);
        let mut layout = Layout::new(buffer, blocks, width, 0);
        self.starts.extend(std::iter::from_fn(|| layout.next_row()));
    }

    /// Follows an edit just done: at `at`, `removed` characters gave way to `inserted`.
    pub(super) fn edited(
        &mut self,
        at: usize,
        removed: usize,
        inserted: usize,
        buffer: &Buffer,
        blocks: &Placeholders,
    ) {
        let moved = |old: usize| old - removed + inserted;
        let edit_end = at + inserted;
        // A row depends on the first word of the next one, which may begin a row of its own.
        let first = self.row_of(at).saturating_sub(2);
        let mut layout = Layout::new(buffer, blocks, self.width, self.starts[first]);
        let mut fresh = Vec::new();
        let mut old = first + 1;
        while let Some(start) = layout.next_row() {
            if start >= edit_end {
                // Starts within what was removed are gone.
                while self.starts.get(old).is_some_and(|old| *old < at + removed) {
                    old += 1;
                }
                let behind = fresh.last().copied().unwrap_or(0);
                if behind > edit_end + MAX_RELAID
                    && let Some(old) = self.starts.get(old).map(|old| moved(*old))
                    && (behind + 1..start).contains(&old)
                    && is_boundary(&buffer.slice(behind..start), old - behind)
                {
                    break;
                }
                while self.starts.get(old).is_some_and(|old| moved(*old) < start) {
                    old += 1;
                }
                if self.starts.get(old).is_some_and(|old| moved(*old) == start) {
                    break;
                }
            }
            fresh.push(start);
        }
        if layout.ended {
            old = self.starts.len();
        }
        for start in &mut self.starts[old..] {
            *start = moved(*start);
        }
        self.starts.splice(first + 1..old, fresh);
    }

    /// The row a caret at `at` stands in.
    pub(super) fn row_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The text of a row, without its line end.
    pub(super) fn range(&self, row: usize, buffer: &Buffer) -> Range<usize> {
        let start = self.starts[row];
        match self.starts.get(row + 1) {
            Some(next) if buffer.char_at(next - 1) == Some('\n') => start..next - 1,
            Some(next) => start..*next,
            None => start..buffer.len(),
        }
    }

    /// The column of a caret at `at` within its row.
    pub(super) fn column_of(&self, at: usize, buffer: &Buffer, blocks: &Placeholders) -> usize {
        let text = buffer.slice(self.starts[self.row_of(at)]..at);
        let mut col = 0;
        for (_, cluster) in clusters(&text) {
            col += columns(cluster, col, self.width, blocks);
        }
        col
    }

    /// The caret position in a row that is nearest to a column, at it or to its left.
    pub(super) fn position(
        &self,
        row: usize,
        goal: usize,
        buffer: &Buffer,
        blocks: &Placeholders,
    ) -> usize {
        let range = self.range(row, buffer);
        let text = buffer.slice(range.clone());
        // The end of a row that goes on in the next one is a place in that one.
        let goes_on = self
            .starts
            .get(row + 1)
            .is_some_and(|next| *next == range.end);
        let mut at = range.start;
        let mut col = 0;
        for (offset, cluster) in clusters(&text) {
            col += columns(cluster, col, self.width, blocks);
            let last = offset + cluster.len() == text.len();
            if col > goal || (last && goes_on) {
                break;
            }
            at += cluster.chars().count();
        }
        at
    }
}

/// Goes through the text row by row, looking at a window of it at a time.
struct Layout<'a> {
    buffer: &'a Buffer,
    blocks: &'a Placeholders,
    width: usize,
    window: String,
    /// Where the row begins: a byte of the window, and a character of the text.
    byte: usize,
    start: usize,
    /// The character of the text behind the window.
    window_end: usize,
    ended: bool,
}

impl<'a> Layout<'a> {
    fn new(buffer: &'a Buffer, blocks: &'a Placeholders, width: usize, start: usize) -> Self {
        Self {
            buffer,
            blocks,
            width,
            window: String::new(),
            byte: 0,
            start,
            window_end: start,
            ended: false,
        }
    }

    /// The start of the next row; `None` at the end of the text.
    fn next_row(&mut self) -> Option<usize> {
        loop {
            let rest = &self.window[self.byte..];
            let complete = self.window_end == self.buffer.len();
            let length = match row_end(rest, self.width, self.blocks) {
                RowEnd::Line(at) => at + 1,
                // What ends the window may go on behind it.
                RowEnd::Full { next, seen } if complete || seen < rest.len() => next,
                RowEnd::Text if complete => {
                    self.ended = true;
                    return None;
                }
                RowEnd::Full { .. } | RowEnd::Text => {
                    let end = self.start + (2 * rest.len()).max(WINDOW);
                    self.window_end = end.min(self.buffer.len());
                    self.window = self.buffer.slice(self.start..self.window_end);
                    self.byte = 0;
                    continue;
                }
            };
            self.start += count_chars(&rest[..length]);
            self.byte += length;
            return Some(self.start);
        }
    }
}

/// Whether a character of a row is the start of a cluster.
fn is_boundary(row: &str, at: usize) -> bool {
    let byte = row
        .char_indices()
        .nth(at)
        .map_or(row.len(), |(byte, _)| byte);
    clusters(row).any(|(start, _)| start == byte)
}

fn count_chars(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}
