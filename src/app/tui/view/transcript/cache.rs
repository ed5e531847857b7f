//! What drawing remembers between frames: rows of the cells near the screen, heights of all. Rows
//! of cells far away are dropped, heights of cells never seen are guesses, and both are made good
//! when they matter.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::heights::Heights;
use super::rows::{CellRows, Page, estimate};
use crate::app::tui::text::markdown::Work;
use crate::app::tui::text::{CodeStore, HighlightWorker};
use crate::app::tui::theme::Theme;
use crate::app::tui::transcript::{Cell, Transcript};

/// Cells whose rows are kept, beyond those on the screen.
const KEPT_CELLS: usize = 256;

/// Rows that are kept in all, beyond those of cells on the screen.
const KEPT_ROWS: usize = 8_000;

/// Changed cells that are laid out at once wherever they are; more only get their height guessed.
const TOUCHED_AT_ONCE: usize = 32;

/// What drawing remembers between frames. Can be thrown away at any time. It belongs to one
/// transcript: `clear` it when another takes that one's place.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    pub(super) code: CodeStore,
    pub(super) width: u16,
    pub(super) heights: Heights,
    /// Whether a height was measured, cell by cell.
    exact: Vec<bool>,
    /// All cells from here on were measured, as far as is known.
    guessed_below: usize,
    cells: HashMap<usize, Kept>,
    frame: u64,
    laid_out: u64,
}

#[derive(Debug)]
struct Kept {
    rows: CellRows,
    used: u64,
}

impl TranscriptCache {
    /// An empty cache; without a highlighter code stays plain.
    pub fn new(highlighter: Option<HighlightWorker>) -> Self {
        Self {
            code: CodeStore::new(highlighter),
            ..Self::default()
        }
    }

    /// Takes in what the highlighter has finished. Answers whether there was something.
    pub fn poll(&mut self) -> bool {
        self.code.poll()
    }

    /// Forgets everything but the highlighter: for another transcript or theme.
    pub fn clear(&mut self) {
        let mut code = std::mem::take(&mut self.code);
        code.clear();
        *self = Self {
            code,
            ..Self::default()
        };
    }

    /// Measures cells whose height is a guess, for about `budget`. Answers whether some are left.
    /// For idle moments.
    pub fn refine(&mut self, transcript: &Transcript, theme: &Theme, budget: Duration) -> bool {
        let start = Instant::now();
        let page = Page {
            theme,
            width: self.width,
            now: transcript.now(),
            fold_key: transcript.fold_key(),
        };
        let mut no_colours = CodeStore::default();
        while self.guessed_below > 0 {
            let index = self.guessed_below - 1;
            if !self.exact.get(index).copied().unwrap_or(true) {
                if start.elapsed() >= budget {
                    return true;
                }
                let cells = transcript.cells();
                let Some(cell) = cells.get(index) else { break };
                let previous = previous(transcript, index);
                let rows = CellRows::new(page, cell, index, previous, None, &mut no_colours);
                self.measured(index, rows.len());
            }
            self.guessed_below = index;
        }
        false
    }

    /// Bytes and lines worked on so far, and cells laid out: for tests and benchmarks.
    pub fn work(&self, cell: usize) -> Work {
        self.cells
            .get(&cell)
            .map_or_else(Work::default, |kept| kept.rows.work())
    }

    /// Cells laid out so far, each time counted.
    pub fn laid_out(&self) -> u64 {
        self.laid_out
    }

    /// Lines of code handed to the highlighter so far.
    pub fn lines_highlighted(&self) -> u64 {
        self.code.lines_sent()
    }

    /// Rows in memory.
    pub fn kept_rows(&self) -> usize {
        self.cells.values().map(|kept| kept.rows.len()).sum()
    }

    /// Gets ready for a frame: knows all cells, and has seen what changed.
    pub(super) fn begin(&mut self, transcript: &Transcript, theme: &Theme, width: u16) {
        self.frame += 1;
        let cells = transcript.cells();
        if self.heights.len() > cells.len() {
            self.clear();
        }
        if self.width != width {
            self.width = width;
            self.cells.clear();
            self.heights = Heights::default();
            self.exact.clear();
        }
        for cell in &cells[self.heights.len()..] {
            self.heights.push(estimate(cell, width) as u32);
            self.exact.push(false);
        }
        self.guessed_below = self.guessed_below.max(self.exact.len());
        let many = transcript.touched().count() > TOUCHED_AT_ONCE;
        for index in transcript.touched() {
            if many && !self.cells.contains_key(&index) {
                self.heights
                    .set(index, estimate(&cells[index], width) as u32);
                self.exact[index] = false;
            } else {
                self.lay_out(transcript, theme, index);
            }
        }
    }

    /// The rows of a cell, laid out if they are not at hand.
    pub(super) fn lay_out(
        &mut self,
        transcript: &Transcript,
        theme: &Theme,
        index: usize,
    ) -> &CellRows {
        let cell = &transcript.cells()[index];
        let before = previous(transcript, index);
        let rows = match self.cells.remove(&index) {
            Some(kept) if kept.rows.fits(cell, before) => kept.rows,
            old => {
                let page = Page {
                    theme,
                    width: self.width,
                    now: transcript.now(),
                    fold_key: transcript.fold_key(),
                };
                let old = old.map(|kept| kept.rows);
                let rows = CellRows::new(page, cell, index, before, old, &mut self.code);
                self.laid_out += 1;
                self.measured(index, rows.len());
                rows
            }
        };
        let kept = Kept {
            rows,
            used: self.frame,
        };
        &self.cells.entry(index).insert_entry(kept).into_mut().rows
    }

    /// The rows of a cell that was laid out in this frame.
    pub(super) fn rows(&self, index: usize) -> Option<&CellRows> {
        self.cells.get(&index).map(|kept| &kept.rows)
    }

    /// The rows of a cell that was laid out in this frame, and the store of code colors.
    pub(super) fn visible(&mut self, index: usize) -> (Option<&CellRows>, &mut CodeStore) {
        let rows = self.cells.get(&index).map(|kept| &kept.rows);
        (rows, &mut self.code)
    }

    /// Ends a frame: drops rows nobody looked at for longest.
    pub(super) fn end(&mut self, transcript: &Transcript) {
        self.code.flush();
        if self.cells.len() <= KEPT_CELLS && self.kept_rows() <= KEPT_ROWS {
            return;
        }
        let mut old: Vec<_> = self
            .cells
            .iter()
            .filter(|(index, kept)| {
                kept.used < self.frame
                    && !transcript.cells().get(**index).is_some_and(Cell::is_live)
            })
            .map(|(index, kept)| (kept.used, *index))
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

    fn measured(&mut self, index: usize, rows: usize) {
        self.heights.set(index, rows as u32);
        self.exact[index] = true;
    }
}

/// The cell a cell stands behind: the last one above that is not hidden.
fn previous(transcript: &Transcript, index: usize) -> Option<&Cell> {
    transcript.cells()[..index]
        .iter()
        .rev()
        .find(|cell| !cell.is_hidden())
}
