//! Marks the links in the visible rows.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::cache::TranscriptCache;
use crate::app::tui::text::link::{LinkTable, links};
use crate::app::tui::text::span::text_of;
use crate::app::tui::text::width;
use crate::app::tui::transcript::{RowRef, Transcript};

/// Bytes of the source around a row that are searched for links touching it.
const AROUND: usize = 2_000;

/// Marks the links in `rows`, which are drawn in `area`.
pub fn paint_links(
    transcript: &Transcript,
    cache: &TranscriptCache,
    table: &mut LinkTable,
    rows: &[RowRef],
    area: Rect,
    buffer: &mut Buffer,
) {
    if !table.is_on() {
        return;
    }
    let mut source = None;
    for (y, at) in (area.y..area.bottom()).zip(rows) {
        let Some(row) = cache.row(*at).filter(|row| row.has_source()) else {
            continue;
        };
        if source.as_ref().is_none_or(|(cell, _)| *cell != at.cell) {
            source = Some((at.cell, transcript.source(at.cell)));
        }
        let Some((_, Some(source))) = &source else {
            continue;
        };
        let (from, to) = (row.source.start as usize, row.source.end as usize);
        let Some(before) = source.get(..from) else {
            continue;
        };
        let least = source.floor_char_boundary(from.saturating_sub(AROUND));
        let start = before[least..]
            .rfind('\n')
            .map_or(least, |at| least + at + 1);
        let most = source.ceil_char_boundary((to + AROUND).min(source.len()));
        let rest = source.get(to..most).unwrap_or_default();
        let end = rest.find('\n').map_or(most, |at| to + at);
        let around = source.get(start..end).unwrap_or_default();
        for (range, link) in links(around) {
            let range = (start + range.start) as u32..(start + range.end) as u32;
            let shown: Vec<_> = text_of(&row.spans, range).collect();
            if shown.is_empty() {
                continue;
            }
            let Some(mark) = table.mark(&link) else {
                continue;
            };
            for text in shown {
                let column = |byte: u32| row.text.get(..byte as usize).map_or(0, width) as u16;
                let (left, right) = (column(text.start), column(text.end).min(area.width));
                for x in left..right {
                    buffer[(area.x + x, y)].underline_color = mark;
                }
            }
        }
    }
}
