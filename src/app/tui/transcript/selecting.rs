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

    /// Selects what stands at a place.
    pub fn select(&mut self, at: Spot, unit: Unit) {
        self.selecting.steps.push(Pointing::Begin(at, unit));
    }

    /// Selects up to a place.
    pub fn select_to(&mut self, at: Spot) {
        self.selecting.steps.push(Pointing::Extend(at));
    }

    /// Has the word said that stands at a place.
    pub fn name_word(&mut self, at: Spot) {
        self.selecting.steps.push(Pointing::Name(at));
    }

    /// Has what is selected copied.
    pub fn copy_selection(&mut self) {
        self.selecting.steps.push(Pointing::Copy);
    }

    /// Selects nothing any more. Answers whether something was selected.
    pub fn deselect(&mut self) -> bool {
        std::mem::take(&mut self.selecting) != Selecting::default()
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

    /// Moves the caret.
    pub fn move_caret(&mut self, motion: Motion) {
        self.selecting.steps.push(Pointing::Go(motion));
    }

    /// Selects from the caret on, or nothing any more.
    pub fn mark_caret(&mut self, unit: Option<Unit>) {
        self.selecting.steps.push(Pointing::Mark(unit));
    }

    /// Goes on at the other end of what is selected.
    pub fn swap_caret(&mut self) {
        self.selecting.steps.push(Pointing::Swap);
    }

    /// Has the word said that the caret is on.
    pub fn name_caret(&mut self) {
        self.selecting.steps.push(Pointing::NameHere);
    }

    /// Copies what is selected, or the caret's line, and takes the caret away.
    pub fn finish_caret(&mut self) {
        self.selecting.steps.push(Pointing::Finish);
        self.hold(false);
    }

    /// Takes the caret away, and what is selected.
    pub fn end_caret(&mut self) {
        self.deselect();
        self.hold(false);
    }
}
