//! The visual rows of the text, updated edit by edit.
//!
//! An edit wraps only its own line again and shifts all later row starts. So a key in ten thousand
//! lines costs about as much as in ten.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::motion::{line_end, line_start};
use super::placeholders::Placeholders;
use super::wrap::{columns, row_starts};

#[derive(Clone, Debug)]
pub(super) struct Rows {
    width: usize,
    /// Byte offsets; at least one, the first is 0.
    starts: Vec<usize>,
}

impl Rows {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            starts: vec![0],
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn set_width(&mut self, width: usize, text: &str, placeholders: &Placeholders) {
        self.width = width;
        self.starts = vec![0];
        self.edited(0, text.len(), text.len(), text, placeholders);
    }

    /// Follows an edit at `at` that replaced `removed` bytes by `inserted`.
    pub(super) fn edited(
        &mut self,
        at: usize,
        removed: usize,
        inserted: usize,
        text: &str,
        placeholders: &Placeholders,
    ) {
        let start = line_start(text, at);
        let end = line_end(text, at + inserted);
        let old_end = end - inserted + removed;
        let first = self.starts.partition_point(|row| *row <= start);
        let behind = self.starts.partition_point(|row| *row <= old_end);
        for row in &mut self.starts[behind..] {
            *row = *row - removed + inserted;
        }
        let mut fresh = Vec::new();
        let mut line = start;
        loop {
            let line_end = line_end(text, line);
            let rows = row_starts(&text[line..line_end], self.width, placeholders);
            fresh.extend(rows.map(|row| line + row));
            if line_end == end {
                break;
            }
            line = line_end + 1;
            fresh.push(line);
        }
        self.starts.splice(first..behind, fresh);
    }

    pub(super) fn row_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The bytes of a row, without its line feed.
    pub(super) fn range(&self, row: usize, text: &str) -> Range<usize> {
        let start = self.starts[row];
        let end = self.starts.get(row + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches('\n').len()
    }

    /// The column of a caret position within its row.
    pub(super) fn column_of(&self, at: usize, text: &str, placeholders: &Placeholders) -> usize {
        let row = &text[self.starts[self.row_of(at)]..at];
        row.graphemes(true).fold(0, |col, cluster| {
            col + columns(cluster, col, self.width, placeholders)
        })
    }

    /// The caret position in a row at a column, or the nearest to its left.
    pub(super) fn position(
        &self,
        row: usize,
        goal: usize,
        text: &str,
        placeholders: &Placeholders,
    ) -> usize {
        let range = self.range(row, text);
        // The end of a wrapped row is the start of the next one.
        let wraps = self.starts.get(row + 1) == Some(&range.end);
        let mut at = range.start;
        let mut col = 0;
        for cluster in text[range.clone()].graphemes(true) {
            col += columns(cluster, col, self.width, placeholders);
            let end = at + cluster.len();
            if col > goal || (wraps && end == range.end) {
                break;
            }
            at = end;
        }
        at
    }
}
