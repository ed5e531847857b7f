//! The list of settings as plain data: all of them, the matches, and the value being typed.

use toml::Value;

use super::picker::Picker;
use crate::app::config::words_of;
pub use crate::app::config::{SettingOverride, SettingRow};
use crate::app::fuzzy::Query;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsPicker {
    pub picker: Picker,
    /// The settings; none until they were read.
    pub rows: Option<Vec<SettingRow>>,
    pub typing: Option<Picker>,
    pub fault: Option<String>,
    pub themes: Vec<String>,
    /// The key of the setting that was changed last, and what the user's file had; none: nothing.
    pub changed: Option<(String, Option<Value>)>,
    /// The setting that was changed last and its value, perhaps not yet among the rows.
    pub ahead: Option<(String, Value)>,
}

impl SettingsPicker {
    /// The settings were read; what was chosen stays chosen.
    pub fn read(&mut self, rows: Vec<SettingRow>) {
        let selected = self.picker.selected();
        let is_there = |(key, value): &mut (String, Value)| {
            rows.iter()
                .any(|row| row.key == *key && row.value == *value)
        };
        self.ahead.take_if(is_there);
        self.rows = Some(rows);
        self.search();
        self.picker.select(selected);
    }

    /// Finds the matching rows: by key or name first, then by their text.
    pub fn search(&mut self) {
        let typed = self.picker.query().to_lowercase();
        let mut query = Query::new(&typed);
        let rows = self.rows.iter().flatten().enumerate();
        let mut found: Vec<_> = rows
            .filter_map(|(at, row)| {
                let of_name = query.fit(at, &row.key).filter(|it| !it.scattered);
                let contains = |text: &str| text.to_lowercase().contains(&typed);
                let is_named = of_name.is_some() || contains(row.name()) || contains(row.group());
                let fits = is_named || contains(&row.about);
                fits.then_some((!is_named, at))
            })
            .collect();
        found.sort_unstable();
        let found = found.into_iter().map(|(_, at)| at).collect();
        self.picker.set_matches(found, 0);
    }

    pub fn chosen(&self) -> Option<&SettingRow> {
        self.rows.as_ref()?.get(self.picker.chosen()?)
    }

    /// The value that follows the chosen one, where there are few; `by` is 1 or -1.
    pub fn next_value(&self, by: isize) -> Option<Value> {
        let row = self.chosen()?;
        let ahead = self.ahead.as_ref().filter(|(key, _)| *key == row.key);
        let value = ahead.map_or(&row.value, |(_, value)| value);
        if let Value::Boolean(on) = value {
            return Some(Value::Boolean(!on));
        }
        let now = value.as_str()?;
        let words = self.words()?;
        let at = words.iter().position(|word| *word == now);
        let count = words.len() as isize;
        let next = at.map_or(0, |at| (at as isize + by).rem_euclid(count) as usize);
        words.get(next).map(|word| Value::from(*word))
    }

    /// The values that the chosen setting takes, where they are few words.
    pub fn words(&self) -> Option<Vec<&str>> {
        let themes = self.themes.iter().map(String::as_str);
        match self.chosen()?.key.as_str() {
            "ui.theme" => Some(themes.collect()),
            // `auto` is what these two are for.
            "ui.theme_dark" | "ui.theme_light" => Some(themes.skip(1).collect()),
            key => words_of(key).map(<[_]>::to_vec),
        }
    }

    pub fn as_typed(&self) -> Option<String> {
        Some(match &self.chosen()?.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    /// What is typed as a value of the chosen setting, or what is expected.
    pub fn typed_value(&self) -> Result<Value, String> {
        let typed = self.typing.as_ref().map(Picker::query).unwrap_or_default();
        let row = self.chosen().ok_or("no setting selected")?;
        if row.value.is_str() {
            return Ok(Value::from(typed));
        }
        let read: Result<toml::Table, _> = format!("value = {typed}").parse();
        let value = read.ok().and_then(|mut table| table.remove("value"));
        value.ok_or_else(|| format!("Expected a value like {}", row.value))
    }
}
