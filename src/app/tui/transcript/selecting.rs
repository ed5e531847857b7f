//! Steps of selecting, by mouse and by keys: noted here, resolved by the next frame.

use super::selection::{Motion, Pointing, Selecting, Spot, Unit};
use super::state::Transcript;

impl Transcript {
    /// Whether something is selected, or about to be.
    pub fn has_selection(&self) -> bool {
        self.selecting != Selecting::default()
    }

    /// What stands at a place of the transcript's area.
    pub fn spot(&self, column: u16, row: u16) -> Spot {
        self.viewport.spot(column, row)
    }

    pub(crate) fn point(&mut self, step: Pointing) {
        self.selecting.steps.push(step);
    }

    /// Selects what stands at a place.
    pub fn select(&mut self, at: Spot, unit: Unit) {
        self.point(Pointing::Begin(at, unit));
    }

    /// Selects up to a place.
    pub fn select_to(&mut self, at: Spot) {
        self.point(Pointing::Extend(at));
    }

    /// Has what is selected copied.
    pub fn copy_selection(&mut self) {
        self.point(Pointing::Copy);
    }

    /// Selects nothing any more. Answers whether something was selected.
    pub fn deselect(&mut self) -> bool {
        let had_some = self.has_selection();
        self.selecting = Selecting::default();
        had_some
    }

    /// Puts a caret on the lowest text that is visible, to select with the keys. Answers whether there is
    /// any.
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
