//! Steps of selecting by mouse or keys. They are recorded here; the next frame resolves them.

use super::selection::{Motion, Pointing, Selecting, Spot, Unit};
use super::state::Transcript;

impl Transcript {
    /// Whether something is or will be selected.
    pub fn has_selection(&self) -> bool {
        self.selecting != Selecting::default()
    }

    /// The text at a place of the transcript's area.
    pub fn spot(&self, column: u16, row: u16) -> Spot {
        self.viewport.spot(column, row)
    }

    pub(crate) fn point(&mut self, step: Pointing) {
        self.selecting.steps.push(step);
    }

    /// Selects the text at a place.
    pub fn select(&mut self, at: Spot, unit: Unit) {
        self.point(Pointing::Begin(at, unit));
    }

    /// Extends the selection to a place.
    pub fn select_to(&mut self, at: Spot) {
        self.point(Pointing::Extend(at));
    }

    /// Copies the selection.
    pub fn copy_selection(&mut self) {
        self.point(Pointing::Copy);
    }

    /// Clears the selection. Returns whether there was one.
    pub fn deselect(&mut self) -> bool {
        let had_some = self.has_selection();
        self.selecting = Selecting::default();
        had_some
    }

    /// Puts a caret for keyboard selection on the lowest visible text. False if there is none.
    pub fn begin_caret(&mut self) -> bool {
        let Some(row) = self.viewport.last_row() else {
            return false;
        };
        self.deselect();
        let spot = self.spot(0, row);
        let steps = [Pointing::Put(spot), Pointing::Go(Motion::RowStart)];
        self.selecting.steps.extend(steps);
        self.hold(true);
        true
    }
}
