//! Marks what was searched for, in the rows that are visible.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use regex::Regex;

use super::cache::TranscriptCache;
use super::select::mark_columns;
use crate::app::tui::text::Row;
use crate::app::tui::text::span::text_of;
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{RowRef, Search, Transcript};

/// Bytes of the source around a row in which a match that touches it is looked for.
const AROUND: usize = 400;

/// Marks the matches in `rows`, which stand in `area`.
pub fn paint(
    transcript: &Transcript,
    search: &Search,
    cache: &TranscriptCache,
    rows: &[Option<RowRef>],
    (area, theme): (Rect, &Theme),
    buffer: &mut Buffer,
) {
    let Some(pattern) = search.pattern() else {
        return;
    };
    let current = search.current();
    for (y, at) in (area.y..).zip(rows) {
        let Some(at) = at else { break };
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
            for found in pattern.find_iter(&row.text) {
                let is_current = here.is_some_and(|found| found.source.is_none());
                mark(found.start() as u32..found.end() as u32, is_current);
            }
            continue;
        }
        let Some(source) = transcript.source(at.cell) else {
            continue;
        };
        for found in matches(pattern, &source, &row) {
            let is_current = here.is_some_and(|here| here.source.as_ref() == Some(&found));
            for range in text_of(&row.spans, found) {
                mark(range, is_current);
            }
        }
    }
}

/// The matches that may touch a row.
fn matches(pattern: &Regex, source: &str, row: &Row) -> Vec<Range<u32>> {
    let start = source.floor_char_boundary((row.source.start as usize).saturating_sub(AROUND));
    let end = source.ceil_char_boundary((row.source.end as usize + AROUND).min(source.len()));
    let around = source.get(start..end).unwrap_or_default();
    let found = pattern.find_iter(around);
    found
        .map(|found| (start + found.start()) as u32..(start + found.end()) as u32)
        .collect()
}
