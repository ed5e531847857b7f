//! The search through earlier prompts.

use crate::app::tui::composer::{History, Narrowing};
use crate::app::tui::popups::Picker;

/// The search through earlier prompts. Each entry is the age of a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPicker {
    pub picker: Picker,
    narrowing: Narrowing,
}

impl HistoryPicker {
    pub fn search(&mut self, history: &History) {
        let found = history.search(self.picker.query(), &mut self.narrowing);
        self.picker.set_matches(found, 0);
    }
}
