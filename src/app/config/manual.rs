//! The settings as a list for users, each with the comment in the shipped file, its value and choices.

use toml::{Table, Value};

use super::check::hint;
use super::layers::{DEFAULTS, Layers, Origin};

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingRow {
    /// Its dotted key.
    pub key: String,
    /// Its current value.
    pub value: Value,
    /// Whether the user's file sets it.
    pub is_set: bool,
    /// The override in this run, if any.
    pub overridden: Option<SettingOverride>,
    /// Its purpose.
    pub about: String,
}

/// A setting overridden by something stronger than the user's file.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingOverride {
    /// Its dotted key.
    pub key: String,
    /// Its current value.
    pub value: Value,
    /// Where it is set: a flag, or a file with the line.
    pub place: String,
}

/// The settings of `layers` that override the user's file.
pub fn overrides(layers: &Layers) -> Vec<SettingOverride> {
    let entries = layers.entries().into_iter();
    let stronger = entries.filter_map(|(key, ..)| {
        let (value, layer) = layers.find(&key)?;
        let weaker = matches!(layer.origin, Origin::Default | Origin::User(_));
        (!weaker).then(|| SettingOverride {
            value: value.clone(),
            place: layer.place(&key),
            key,
        })
    });
    stronger.collect()
}

/// The settings in force that `key` names: one, or all of a section.
pub fn entries_of<'a>(
    layers: &'a Layers,
    key: &str,
) -> Result<Vec<(String, &'a Value, &'a Origin)>, String> {
    let is_below = |it: &str| (it.strip_prefix(key)).is_some_and(|rest| rest.starts_with('.'));
    let entries = layers.entries().into_iter();
    let found: Vec<_> = entries
        .filter(|(it, ..)| it == key || is_below(it))
        .collect();
    let defaults: Table = DEFAULTS.parse().unwrap_or_default();
    let schema = Layers::defaults();
    let takes_any_name =
        |key| matches!(schema.get(key), Some((Value::Table(table), _)) if table.is_empty());
    let section = key.rsplit_once('.').map_or(key, |(section, _)| section);
    if found.is_empty() && !takes_any_name(key) && !takes_any_name(section) {
        return Err(format!("unknown setting {key}: {}", hint(&defaults, key)));
    }
    Ok(found)
}

/// The words a setting takes, where they are few.
const WORDS: &[(&str, &[&str])] = &[
    ("agent.steering_mode", &["all", "one"]),
    ("agent.follow_up_mode", &["all", "one"]),
    (
        "models.thinking",
        &["off", "minimal", "low", "medium", "high", "xhigh", "max"],
    ),
    ("models.cache", &["5m", "1h"]),
    ("permission.mode", &["plan", "ask", "auto", "full"]),
    ("tools.set", &["all", "coding", "read_only", "none"]),
    ("ui.notify", &["bell", "desktop", "off"]),
    ("ui.motion", &["full", "reduced"]),
    ("ui.links", &["auto", "on", "off"]),
    ("ui.images", &["auto", "off", "kitty", "blocks"]),
];

/// The settings of daily use in the order of the list, each with its group and its name. The others
/// follow under their keys.
const DAILY: &[(&str, &[(&str, &str)])] = &[
    (
        "Look",
        &[
            ("ui.theme", "Theme"),
            ("ui.theme_dark", "Theme for dark terminals"),
            ("ui.theme_light", "Theme for light terminals"),
            ("ui.motion", "Motion"),
            ("ui.preview", "Show search results"),
            ("ui.images", "Images"),
            ("ui.links", "Links"),
            ("ui.title", "Window title"),
            ("ui.inline", "Inline mode (no full screen)"),
        ],
    ),
    (
        "Permission",
        &[
            ("permission.mode", "Mode for new sessions"),
            ("permission.rules", "Permission rules"),
            ("permission.redact", "Hide secrets from models"),
            ("permission.writable", "Other writable folders"),
            ("permission.protected", "Protected paths"),
            ("tools.set", "Tools for the model"),
        ],
    ),
    (
        "Model",
        &[
            ("models.default", "Model for new sessions"),
            ("models.thinking", "Thinking level"),
            ("models.favorites", "Favorite models"),
            ("models.fallback", "Fallback models"),
            ("models.local", "Find local model servers"),
            ("models.cache", "Keep the prompt cache for"),
        ],
    ),
    (
        "Editor",
        &[
            ("ui.vim", "Vim keys"),
            ("ui.mouse", "Mouse"),
            ("ui.notify", "Notifications"),
            ("agent.follow_up_mode", "Send queued messages"),
        ],
    ),
    (
        "Limits",
        &[
            ("budget.usd", "Budget in dollars"),
            ("budget.tokens", "Budget in tokens"),
            ("agent.max_iterations", "Max model calls per prompt"),
            ("tools.bash.timeout_seconds", "Command timeout (seconds)"),
            ("retry.max", "Max retries"),
            ("compaction.enabled", "Automatic compaction"),
        ],
    ),
];

/// The place of the setting `key` in the list, its group and name. Unlisted ones come last.
fn daily(key: &str) -> (usize, &'static str, &str) {
    let groups = DAILY.iter().flat_map(|(group, rows)| {
        let named = move |(key, name): &'static (_, _)| (*group, *key, *name);
        rows.iter().map(named)
    });
    let mut places = groups.enumerate();
    let found = places.find(|(_, (_, known, _))| *known == key);
    found.map_or((usize::MAX, "Advanced", key), |(at, (group, _, name))| {
        (at, group, name)
    })
}

impl SettingRow {
    /// Whether `/settings` lists it: it is for daily use, or in the user's file.
    pub fn is_listed(&self) -> bool {
        self.is_set || daily(&self.key).0 < usize::MAX
    }

    /// Whether its value is a 0 that stands for no limit.
    pub(crate) fn is_no_limit(&self) -> bool {
        let is_limit = matches!(
            &*self.key,
            "budget.usd" | "budget.tokens" | "agent.max_iterations"
        );
        is_limit && (self.value.as_float() == Some(0.0) || self.value.as_integer() == Some(0))
    }

    pub(crate) fn group(&self) -> &'static str {
        daily(&self.key).1
    }

    pub(crate) fn name(&self) -> &str {
        daily(&self.key).2
    }
}

/// The choices for the setting `key`, if they are few.
pub fn words_of(key: &str) -> Option<&'static [&'static str]> {
    let found = WORDS.iter().find(|(known, _)| *known == key);
    found.map(|(_, words)| *words)
}

/// All settings with their values and overrides: daily ones first, then the others in the order of the
/// shipped file. Leaves out tables of names, which users edit by hand.
pub fn setting_rows(layers: &Layers, overrides: &[SettingOverride]) -> Vec<SettingRow> {
    let row = |(key, about): (String, String)| {
        let (value, origin) = layers.get(&key)?;
        Some(SettingRow {
            overridden: overrides.iter().find(|it| it.key == key).cloned(),
            value: value.clone(),
            is_set: matches!(origin, Origin::User(_)),
            key,
            about,
        })
    };
    let mut rows: Vec<_> = manual().into_iter().filter_map(row).collect();
    rows.sort_by_key(|row| daily(&row.key).0);
    rows
}

/// The key of each setting, its name in the list, and what it is for.
pub fn documented() -> impl Iterator<Item = (String, String, String)> {
    let all = manual().into_iter();
    all.map(|(key, about)| (daily(&key).2.to_owned(), key, about))
        .map(|(name, key, about)| (key, name, about))
}

/// Each key of the shipped file and the comment above it; adjacent keys share one.
fn manual() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut table, mut about, mut is_open) = (String::new(), String::new(), false);
    for line in DEFAULTS.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            if !is_open {
                about.clear();
            }
            is_open = true;
            if !about.is_empty() {
                about.push(' ');
            }
            about.push_str(comment.trim());
            continue;
        }
        is_open = false;
        if line.trim().is_empty() {
            about.clear();
        } else if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            name.clone_into(&mut table);
            about.clear();
        } else if let Some((name, _)) = line.split_once(" = ")
            && !line.starts_with(char::is_whitespace)
        {
            found.push((format!("{table}.{name}"), about.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_listed_with_what_it_is_for() {
        let layers = Layers::defaults();
        let rows = setting_rows(&layers, &[]);
        for (key, ..) in layers.entries() {
            let row = rows.iter().find(|row| row.key == key);
            assert!(
                row.is_some_and(|row| !row.about.is_empty()),
                "{key}: {row:?}"
            );
        }
        for (_, named) in DAILY {
            for (key, name) in *named {
                let row = rows.iter().find(|row| row.key == *key);
                assert_eq!(row.map(SettingRow::name), Some(*name), "{key}");
            }
        }
        assert_eq!((rows[0].group(), rows[0].name()), ("Look", "Theme"));
        let last = &rows[rows.len() - 1];
        assert_eq!((last.group(), last.name()), ("Advanced", &*last.key));
        for (key, words) in WORDS {
            let now = layers.get(key).and_then(|(value, _)| value.as_str());
            assert!(now.is_some_and(|now| words.contains(&now)), "{key}");
            for word in *words {
                let mut layers = Layers::defaults();
                layers.add_assignment(&format!("{key}={word}")).unwrap();
                super::super::Settings::resolve(&layers).unwrap();
            }
        }
    }

    #[test]
    fn what_is_stronger_than_the_users_file_overrides_it() {
        let mut layers = Layers::defaults();
        layers.add_assignment("ui.mouse=false").unwrap();
        let found = overrides(&layers);
        let expected = SettingOverride {
            key: "ui.mouse".to_owned(),
            value: Value::Boolean(false),
            place: "--config".to_owned(),
        };
        assert_eq!(found, std::slice::from_ref(&expected));
        let rows = setting_rows(&Layers::defaults(), &found);
        let told: Vec<_> = rows.into_iter().filter_map(|row| row.overridden).collect();
        assert_eq!(told, [expected]);
    }
}
