//! The list of themes as plain data. While the list is open, the screen uses the selected one.

use crate::app::tui::popups::Picker;
use crate::app::tui::theme::{AUTO, Kind, Theme, ThemeChoice};

#[derive(Clone, Debug, PartialEq)]
pub struct ThemePicker {
    pub picker: Picker,
    pub rows: Vec<ThemeRow>,
    pub before: Theme,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ThemeRow {
    /// The value of the setting for this theme.
    pub wanted: String,
    pub about: String,
    pub theme: Theme,
    pub warnings: Vec<String>,
}

impl ThemePicker {
    /// Creates the list with the current theme selected.
    pub fn new(choice: &ThemeChoice, now: &Theme) -> Self {
        let mut list = Self {
            picker: Picker::default(),
            rows: rows(choice),
            before: now.clone(),
        };
        list.search();
        let at = list.rows.iter().position(|row| row.wanted == choice.wanted);
        list.picker.select(at.unwrap_or(0));
        list
    }

    /// Updates the list after the themes changed or the terminal reported its colors.
    pub fn refresh(&mut self, choice: &ThemeChoice) {
        let chosen = self.chosen().map(|row| row.wanted.clone());
        self.rows = rows(choice);
        self.search();
        let mut matches = self.picker.matches().iter();
        let at = matches.position(|row| Some(&self.rows[*row].wanted) == chosen.as_ref());
        self.picker.select(at.unwrap_or(0));
    }

    pub fn search(&mut self) {
        let rows = self.rows.iter();
        self.picker
            .find(rows.map(|row| format!("{} {}", row.wanted, row.about)));
    }

    pub fn chosen(&self) -> Option<&ThemeRow> {
        self.rows.get(self.picker.chosen()?)
    }
}

fn rows(choice: &ThemeChoice) -> Vec<ThemeRow> {
    let names = std::iter::once(AUTO).chain(choice.themes.names());
    names
        .filter_map(|name| {
            let loaded = choice.load(name).ok()?;
            let kind = match loaded.theme.kind {
                Kind::Dark => "dark",
                Kind::Light => "light",
            };
            let about = match name {
                AUTO => format!(
                    "{} or {}, to match the terminal",
                    choice.for_dark, choice.for_light
                ),
                "system" => "the terminal's own colors".to_owned(),
                "ansi" => "16 colors".to_owned(),
                name if choice.themes.is_own(name) => format!("{kind}, yours"),
                _ => kind.to_owned(),
            };
            Some(ThemeRow {
                wanted: name.to_owned(),
                about,
                theme: loaded.theme,
                warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
            })
        })
        .collect()
}
