//! A cache between frames: the rows of cells near the screen, and the heights of all cells. It drops
//! the rows of distant cells and guesses the heights of cells never seen; both are computed when
//! needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;

use super::find::Found;
use super::heights::PageHeights;
use super::rows::{CellRows, LayoutOptions, estimate, estimate_stored};
use super::standing::Groups;
use crate::app::tui::picture::PictureCache;
use crate::app::tui::text::{HighlightCache, HighlightWorker, Row};
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Cell, Page, RowRef, Transcript, cell_at, page_of, place_of};

/// Cells whose rows stay cached, besides those on the screen.
const KEPT_CELLS: usize = 256;

/// Total rows cached, besides those of cells on the screen.
const KEPT_ROWS: usize = 8_000;

/// Changed cells that are laid out at once, wherever they are. The heights of any more are guessed.
const DIRTY_AT_ONCE: usize = 32;

/// The cache between frames. It can be discarded at any time.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    code: HighlightCache,
    /// The pictures that were on the screen.
    pub pictures: PictureCache,
    generation: u32,
    pub(super) width: u16,
    heights: Vec<PageHeights>,
    /// Cells with an estimated height, and some that were measured since.
    estimated: Vec<usize>,
    cells: HashMap<usize, Kept>,
    nothing: CellRows,
    /// Cells whose rows a change of width dropped.
    resized: Vec<usize>,
    groups: Groups,
    pub(super) found: Found,
    frame: u64,
}

#[derive(Debug)]
struct Kept {
    rows: CellRows,
    used: u64,
}

impl TranscriptCache {
    /// Creates an empty cache. Without a highlighter code stays plain.
    pub fn new(highlighter: Option<HighlightWorker>) -> Self {
        Self {
            code: HighlightCache::new(highlighter),
            ..Self::default()
        }
    }

    /// Creates a copy with another highlighter, for another theme.
    pub fn with_highlighter(&mut self, highlighter: HighlightWorker) -> Self {
        Self {
            pictures: std::mem::take(&mut self.pictures),
            ..Self::new(Some(highlighter))
        }
    }

    /// Receives results from other threads. Returns whether there were any.
    pub fn poll(&mut self) -> bool {
        let (code, pictures) = (self.code.poll(), self.pictures.poll());
        code || pictures
    }

    /// Clears everything but the highlighter and the pictures, for another transcript.
    pub fn clear(&mut self) {
        let mut code = std::mem::take(&mut self.code);
        code.clear();
        *self = Self {
            code,
            pictures: std::mem::take(&mut self.pictures),
            ..Self::default()
        };
    }

    /// Measures cells with a guessed height for about `budget`. Returns whether some are left.
    pub fn refine(&mut self, transcript: &Transcript, theme: &Theme, budget: Duration) -> bool {
        let start = Instant::now();
        let options = LayoutOptions::new(theme, self.width, transcript);
        let mut no_colors = HighlightCache::default();
        self.groups.clear();
        while let Some(&index) = self.estimated.last() {
            let page = self.heights.get(page_of(index));
            if page.and_then(|page| page.measured.get(place_of(index))) == Some(&false) {
                if start.elapsed() >= budget {
                    return true;
                }
                if let Some(cell) = transcript.cell(index) {
                    let standing = self.groups.standing(transcript, index);
                    let rows = CellRows::new(options, cell, index, standing, None, &mut no_colors);
                    self.set_height(index, rows.len(), true);
                }
            }
            self.estimated.pop();
        }
        false
    }

    /// Bytes of markdown written for a cell so far, for tests.
    pub fn written(&self, cell: usize) -> usize {
        self.cells.get(&cell).map_or(0, |kept| kept.rows.written())
    }

    /// Number of cached rows.
    pub fn kept_rows(&self) -> usize {
        self.cells.values().map(|kept| kept.rows.len()).sum()
    }

    /// Prepares a frame: updates the heights after changes to the cells.
    pub(super) fn begin(&mut self, transcript: &Transcript, theme: &Theme, width: u16) {
        self.frame += 1;
        self.groups.clear();
        if self.generation != transcript.generation() {
            self.clear();
            self.generation = transcript.generation();
        }
        let pictures = transcript.pictures();
        if self.width != width || self.pictures.layout() != pictures {
            self.width = width;
            self.resized = self.cells.drain().map(|(index, _)| index).collect();
            self.heights.clear();
            self.estimated.clear();
        }
        self.pictures.begin(pictures);
        let options = LayoutOptions::new(theme, width, transcript);
        self.heights
            .resize_with(transcript.cells().pages().len(), PageHeights::default);
        let pages = transcript.cells().pages().iter().zip(&mut self.heights);
        for (number, (page, known)) in pages.enumerate() {
            let guessed = estimate_page(page, known, options);
            let guessed = guessed.map(|place| cell_at(number, place));
            self.estimated.extend(guessed);
        }
        let dirty = transcript.cells().dirty();
        for &index in dirty {
            let Some(cell) = transcript.cell(index) else {
                continue;
            };
            if dirty.len() > DIRTY_AT_ONCE && !self.cells.contains_key(&index) {
                self.set_height(index, estimate(cell, options), false);
            } else {
                self.lay_out(transcript, theme, index);
            }
        }
    }

    pub(super) fn rows_to(&self, at: RowRef) -> u64 {
        let page = page_of(at.cell).min(self.heights.len());
        let before: u64 = self.heights[..page].iter().map(PageHeights::total).sum();
        let within = self.heights.get(page);
        before + within.map_or(0, |page| page.rows_to(place_of(at.cell), at.row))
    }

    /// Rows of all cells.
    pub fn rows(&self) -> u64 {
        self.heights.iter().map(PageHeights::total).sum()
    }

    /// The rows of a cell, laid out if they are not cached.
    pub(super) fn lay_out(
        &mut self,
        transcript: &Transcript,
        theme: &Theme,
        index: usize,
    ) -> &CellRows {
        let Some(cell) = transcript.cell(index) else {
            // Callers never pass a missing cell.
            return &self.nothing;
        };
        let standing = self.groups.standing(transcript, index);
        let rows = match self.cells.remove(&index) {
            Some(kept) if kept.rows.fits(cell, &standing) => kept.rows,
            old => {
                let options = LayoutOptions::new(theme, self.width, transcript);
                let old = old.map(|kept| kept.rows);
                let rows = CellRows::new(options, cell, index, standing, old, &mut self.code);
                self.set_height(index, rows.len(), true);
                rows
            }
        };
        let used = self.frame;
        let kept = Kept { rows, used };
        &self.cells.entry(index).insert_entry(kept).into_mut().rows
    }

    /// A row of a cell that was laid out in the last frame.
    pub fn row(&self, at: RowRef) -> Option<Cow<'_, Row>> {
        self.cells.get(&at.cell)?.rows.get(at.row as usize)
    }

    /// The rows of a cell that was laid out in this frame, and the cache of code colors.
    pub(super) fn visible(&mut self, index: usize) -> (Option<&CellRows>, &mut HighlightCache) {
        let rows = self.cells.get(&index).map(|kept| &kept.rows);
        (rows, &mut self.code)
    }

    pub(super) fn paint_picture(
        &mut self,
        at: RowRef,
        place: ((u16, u16), u16),
        buffer: &mut Buffer,
    ) {
        let row = at.row as usize;
        let rows = self.cells.get(&at.cell).map(|kept| &kept.rows);
        if let Some(placed) = rows.and_then(|rows| rows.picture(row)) {
            self.pictures
                .paint(placed, row - placed.first, place, buffer);
        }
    }

    /// The first of these rows of a cell with a picture that is not ready. Requests the picture.
    pub(super) fn first_lacking(&mut self, index: usize, mut rows: Range<usize>) -> Option<usize> {
        let kept = self.cells.get(&index)?;
        rows.find(|row| {
            let placed = kept.rows.picture(*row);
            placed.is_some_and(|placed| self.pictures.lacks(placed))
        })
    }

    /// The first of these rows of a cell with code that has no colors yet. Requests the colors.
    pub(super) fn first_plain(&mut self, index: usize, rows: Range<usize>) -> Option<usize> {
        let kept = self.cells.get(&index)?;
        let mut first = None;
        for at in rows {
            let Some(row) = kept.rows.get(at) else { break };
            let Some(place) = row.code else { continue };
            self.code.see((index, place.block));
            if first.is_none() && !self.code.is_colored(index, &row) {
                first = Some(at);
            }
        }
        first
    }

    /// Ends a frame: drops the least recently drawn rows.
    pub(super) fn end(&mut self, transcript: &Transcript) {
        self.code.flush();
        self.pictures.end();
        for index in std::mem::take(&mut self.resized) {
            if !self.cells.contains_key(&index) {
                self.code.forget(index);
            }
        }
        // Rows with a picture keep the whole message in memory.
        self.cells
            .retain(|index, kept| !kept.rows.has_pictures() || transcript.cell(*index).is_some());
        if self.cells.len() <= KEPT_CELLS && self.kept_rows() <= KEPT_ROWS {
            return;
        }
        let mut old: Vec<_> = self
            .cells
            .iter()
            .map(|(index, kept)| (kept.used, *index))
            .filter(|(used, index)| {
                *used < self.frame && !transcript.cell(*index).is_some_and(Cell::is_live)
            })
            .collect();
        old.sort_unstable();
        let mut rows = self.kept_rows();
        for (_, index) in old {
            if self.cells.len() <= KEPT_CELLS / 2 && rows <= KEPT_ROWS / 2 {
                break;
            }
            if let Some(kept) = self.cells.remove(&index) {
                rows -= kept.rows.len();
                self.code.forget(index);
            }
        }
    }

    fn set_height(&mut self, index: usize, rows: usize, is_measured: bool) {
        let Some(page) = self.heights.get_mut(page_of(index)) else {
            return;
        };
        if let Some(heights) = &mut page.cells {
            heights.set(place_of(index), rows as u32);
            page.measured[place_of(index)] = is_measured;
            if !is_measured {
                self.estimated.push(index);
            }
        }
    }
}

/// Updates the heights of a page for its cells. Returns the places of the guessed ones.
fn estimate_page(page: &Page, known: &mut PageHeights, options: LayoutOptions<'_>) -> Range<usize> {
    match &page.cells {
        None => {
            if known.guess == 0 {
                let entries = page.entries.as_ref().map_or(0, Range::len);
                known.guess = estimate_stored(entries, page.bytes, options.width);
            }
            // The measured sum is the best guess.
            if let Some(heights) = known.cells.take() {
                known.guess = heights.total();
                known.measured.clear();
            }
            0..0
        }
        Some(cells) => {
            let heights = known.cells.get_or_insert_default();
            let from = heights.len();
            for cell in cells.iter().skip(from) {
                heights.push(estimate(cell, options) as u32);
                known.measured.push(false);
            }
            from..cells.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tui::theme::ColorDepth;

    #[test]
    fn a_frame_without_news_leaves_nothing_to_measure() {
        let theme = Theme::load("dark", ColorDepth::None).unwrap();
        let mut transcript = Transcript::new();
        let mut cache = TranscriptCache::new(None);
        for _ in 0..DIRTY_AT_ONCE * 2 {
            transcript.push_user("text");
        }
        cache.begin(&transcript, &theme, 20);
        assert!(!cache.estimated.is_empty());
        assert!(!cache.refine(&transcript, &theme, Duration::MAX));
        transcript.after_draw(&crate::app::tui::transcript::Drawn::default());
        transcript.push_user("one more");
        cache.begin(&transcript, &theme, 20);
        assert_eq!(cache.estimated.len(), 1);
        assert!(!cache.refine(&transcript, &theme, Duration::ZERO));
        assert!(cache.estimated.is_empty());
    }
}
