//! Marks the matches of a search in the visible rows.

use std::collections::HashMap;
use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::cache::TranscriptCache;
use super::select::mark_columns;
use crate::app::tui::text::Row;
use crate::app::tui::text::span::text_of;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Cell, Pattern, RowRef, Search, Transcript};

/// The matches in the cells on the screen, found once per revision.
#[derive(Debug, Default)]
pub struct Found {
    pattern: String,
    cells: HashMap<usize, (u32, Vec<Range<u32>>)>,
}

impl Found {
    /// Finds the matches in these cells.
    fn update<'a>(&mut self, pattern: &Pattern, shown: impl Iterator<Item = (usize, &'a Cell)>) {
        if self.pattern != pattern.regex.as_str() {
            pattern.regex.as_str().clone_into(&mut self.pattern);
            self.cells.clear();
        }
        let mut before = std::mem::take(&mut self.cells);
        for (index, cell) in shown {
            let known = before.remove(&index).filter(|it| it.0 == cell.revision);
            let found = known.unwrap_or_else(|| (cell.revision, pattern.ranges(cell)));
            self.cells.insert(index, found);
        }
    }

    fn in_row(&self, cell: usize, row: &Row) -> &[Range<u32>] {
        let all = self.cells.get(&cell).map_or(&[][..], |(_, all)| all);
        let from = all.partition_point(|found| found.end <= row.source.start);
        let to = all.partition_point(|found| found.start < row.source.end);
        all.get(from..to).unwrap_or_default()
    }
}

/// Marks the matches in `rows`, which are drawn in `area`.
pub fn paint(
    transcript: &Transcript,
    search: &Search,
    cache: &mut TranscriptCache,
    rows: &[RowRef],
    (area, theme): (Rect, &Theme),
    buffer: &mut Buffer,
) {
    let Some(pattern) = search.pattern() else {
        return;
    };
    let mut shown: Vec<usize> = rows.iter().map(|row| row.cell).collect();
    shown.dedup();
    let shown = shown.into_iter();
    let shown = shown.filter_map(|index| Some((index, transcript.cell(index)?)));
    cache.found.update(pattern, shown);
    let current = search.current();
    for (y, at) in (area.y..).zip(rows) {
        let Some(row) = cache.row(*at) else { continue };
        let here = current.filter(|found| found.cell == at.cell);
        let mut mark = |range: Range<u32>, is_current: bool| {
            let style = if is_current {
                theme.pill
            } else {
                theme.popup_selected
            };
            mark_columns(&row, range, style, (area, y), buffer);
        };
        if !row.has_source() {
            for found in pattern.regex.find_iter(&row.text) {
                let is_current = here.is_some_and(|found| found.source().is_none());
                mark(found.start() as u32..found.end() as u32, is_current);
            }
            continue;
        }
        for found in cache.found.in_row(at.cell, &row) {
            let is_current = here.is_some_and(|here| here.source() == Some(found));
            for range in text_of(&row.spans, found.clone()) {
                mark(range, is_current);
            }
        }
    }
}
