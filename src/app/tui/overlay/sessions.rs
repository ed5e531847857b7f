//! The list of sessions as plain data.

use super::picker::Picker;
use crate::app::sessions::SessionRow;

/// The sessions, and which of them is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPicker {
    /// What is typed, and what matches it.
    pub picker: Picker,
    /// All that can be opened; none until they were read.
    pub rows: Option<Vec<SessionRow>>,
}

impl SessionPicker {
    /// Finds the sessions whose title holds all words that are typed.
    pub fn search(&mut self) {
        let query = self.picker.query().to_lowercase();
        let fits = |row: &SessionRow| {
            let title = row.label().to_lowercase();
            query.split_whitespace().all(|word| title.contains(word))
        };
        let rows = self.rows.iter().flatten().enumerate();
        let matches = rows.filter(|(_, row)| fits(row)).map(|(at, _)| at);
        self.picker.set_matches(matches.collect(), 0);
    }

    /// The session that is chosen.
    pub fn chosen(&self) -> Option<&SessionRow> {
        self.rows.as_ref()?.get(self.picker.chosen()?)
    }
}
