//! The list of settings as plain data: all settings, the matches, and the value being typed.

use toml::Value;

use crate::agent::permission::is_known_program;
use crate::agent::word_list::WordList;
pub use crate::app::config::{SettingOverride, SettingRow};
use crate::app::config::{TYPED, typed_value, words_of};
use crate::app::manual::{begins_word, parts, whole_word};
use crate::app::synonyms::{begins_one, instead_of, is_one, plain, words_for};
use crate::app::tui::popups::Picker;
use crate::llm::nearest::typo_of;

/// Words of a question that name no setting.
const FILLERS: WordList = WordList(
    "a an and can change default disable do enable for how i in is it my of off on set setting settings switch the to \
     turn use what",
);

/// The letters of the shortest typo.
const MIN_TYPO: usize = 5;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsPicker {
    pub picker: Picker,
    /// The settings, with those last that the list leaves out until nothing else matches. `None` until
    /// they are read.
    pub rows: Option<Vec<SettingRow>>,
    pub typing: Option<Picker>,
    pub fault: Option<String>,
    pub themes: Vec<String>,
    /// The key of the setting last changed, and its previous value in the user's file, if any.
    pub changed: Option<(String, Option<Value>)>,
    /// The setting last changed and its value, which the rows may not show yet.
    pub ahead: Option<(String, Value)>,
}

impl SettingsPicker {
    /// Applies newly read settings. The selection stays.
    pub fn read(&mut self, mut rows: Vec<SettingRow>) {
        rows.sort_by_key(|row| !row.is_listed());
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

    /// Finds the rows that match, best first, or those that the query is a typo of. The words can come
    /// in any order.
    pub fn search(&mut self) {
        let typed = self.picker.query().to_lowercase();
        let words = telling_words(&typed);
        let usual = (!words.is_empty()).then_some(Fit::Part);
        let mut found = self.find(&typed, &words, usual);
        if found.is_empty() && instead_of(&words.concat()).is_none() {
            found = self.find(&typed, &words, Some(Fit::About));
        }
        // The help opens the list at any setting.
        let mut rows = self.rows.iter().flatten();
        let asked = typed.split(' ').next().unwrap_or_default();
        if let Some(at) = rows.position(|row| row.key == asked) {
            found.retain(|it| *it != at);
            found.insert(0, at);
        }
        if found.is_empty() && instead_of(&words.concat()).is_none() {
            let rows = self.rows.iter().flatten();
            let known: Vec<String> = rows.map(names).collect();
            let known = || known.iter().flat_map(|names| parts(names));
            let meant = words.iter().map(|word| match word.len() {
                MIN_TYPO.. => typo_of(word, known()).unwrap_or(word),
                _ => word,
            });
            found = self.find(&typed, &meant.collect::<Vec<_>>(), usual);
        }
        self.picker.set_matches(found, 0);
    }

    /// The rows that match, best first, the everyday ones before the others. `advanced` is how well the
    /// others must match, if they may.
    fn find(&self, typed: &str, words: &[&str], advanced: Option<Fit>) -> Vec<usize> {
        let rows = self.rows.iter().flatten().enumerate();
        let mut found: Vec<_> = rows
            .filter_map(|(at, row)| Some((!row.is_listed(), fit(row, typed, words)?, at)))
            .filter(|(is_advanced, fit, _)| !is_advanced || advanced.is_some_and(|it| *fit <= it))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(.., at)| at).collect()
    }

    /// What to do instead if the query names no setting.
    pub fn advice(&self) -> Option<String> {
        let typed = self.picker.query();
        let mut rule = typed.split_whitespace();
        if matches!(rule.next(), Some("allow" | "ask" | "deny"))
            && rule.next().is_some_and(is_known_program)
        {
            return Some(format!("/permissions {typed} adds this rule"));
        }
        let typed = typed.to_lowercase();
        let words = telling_words(&typed);
        let first = self.picker.matches().first();
        let first = first.and_then(|at| self.rows.as_ref()?.get(*at));
        let found = first.and_then(|row| fit(row, &typed, &words));
        let is_named = found.is_some_and(|fit| fit <= Fit::Name);
        let advice = instead_of(&words.concat()).filter(|_| !is_named);
        advice.map(str::to_owned)
    }

    pub fn chosen(&self) -> Option<&SettingRow> {
        self.rows.as_ref()?.get(self.picker.chosen()?)
    }

    /// The value after the current one if the setting has only a few; `by` is 1 or -1.
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

    /// The values of the selected setting, if it has only a few.
    pub fn words(&self) -> Option<Vec<&str>> {
        let themes = self.themes.iter().map(String::as_str);
        match self.chosen()?.key.as_str() {
            "ui.theme" => Some(themes.collect()),
            // `auto` is not allowed here: it chooses between these two.
            "ui.theme_dark" | "ui.theme_light" => Some(themes.skip(1).collect()),
            key => words_of(key).map(<[_]>::to_vec),
        }
    }

    pub fn as_typed(&self) -> Option<String> {
        let value = &self.chosen()?.value;
        let words = || value.as_array()?.iter().map(Value::as_str).collect();
        let words: Option<Vec<&str>> = words();
        Some(match (value, words) {
            (Value::String(text), _) => text.clone(),
            (_, Some(words)) if !words.iter().any(|it| it.contains(',')) => words.join(", "),
            (other, _) => other.to_string(),
        })
    }

    /// How to type a list, if the selected setting is one.
    pub fn list_hint(&self) -> Option<&'static str> {
        let row = self.chosen().filter(|row| row.value.is_array())?;
        Some(match row.key.split('.').next() {
            Some("models") => "Separate several with commas: opus, openai/gpt-5",
            Some("tools") => "Separate several with commas: NPM_TOKEN, DB_PASSWORD",
            _ => "Separate several with commas: ~/notes, ~/work/secrets",
        })
    }

    /// The typed value of the selected setting, as `tiller config set` reads it, or what is wrong with it.
    pub fn typed_value(&self) -> Result<Value, String> {
        let typed = self.typing.as_ref().map(Picker::query).unwrap_or_default();
        let row = self.chosen().ok_or("no setting selected")?;
        typed_value(&row.key, typed).map_err(|fault| without_place(&fault))
    }
}

/// How well a setting matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// By its key, which a value may follow.
    Key,
    /// By the whole of its name, or of a word for it.
    Name,
    /// By parts of these.
    Part,
    /// Only by its explanation.
    About,
}

fn fit(row: &SettingRow, typed: &str, words: &[&str]) -> Option<Fit> {
    if typed.split(' ').next() == Some(&*row.key) {
        return Some(Fit::Key);
    }
    let all = plain(&words.concat());
    let last = row.key.rsplit('.').next().unwrap_or_default();
    let is_whole = plain(row.name()) == all || plain(last) == all || is_one(&row.key, &all);
    if !all.is_empty() && is_whole {
        return Some(Fit::Name);
    }
    let named = names(row);
    let about = row.about.to_lowercase();
    let words = || words.iter().flat_map(|word| parts(word));
    let begins =
        |word: &str| parts(&named).any(|part| part.starts_with(word) || whole_word(part, word));
    if words().all(begins) || begins_one(&row.key, &all) {
        return Some(Fit::Part);
    }
    let is_said = |word: &str| begins(word) || parts(&about).any(|part| begins_word(part, word));
    words().all(is_said).then_some(Fit::About)
}

/// What a setting goes by, in lower case: its key, name and group, and other words for it.
fn names(row: &SettingRow) -> String {
    let names = [&row.key, row.name(), row.group(), words_for(&row.key)];
    names.join(" ").to_lowercase()
}

/// The typed words without those that say nothing about a setting; all of them if none is left.
fn telling_words(typed: &str) -> Vec<&str> {
    let (fillers, telling): (Vec<&str>, Vec<&str>) = typed
        .split_whitespace()
        .partition(|word| FILLERS.contains(word));
    if telling.is_empty() { fillers } else { telling }
}

/// The error about a typed value, without the setting that the user sees anyway.
pub fn without_place(fault: &str) -> String {
    let place = format!("({TYPED}): ");
    let why = fault.split_once(&place).map_or(fault, |(_, why)| why);
    let mut letters = why.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::config::{Layers, setting_rows};

    #[test]
    fn words_for_other_things_find_the_shipped_settings() {
        for (typed, key) in [
            ("ssh", "ui.motion"),
            ("flicker", "ui.motion"),
            ("turn off animations", "ui.motion"),
            ("whitelist", "permission.rules"),
            ("ask less", "permission.mode"),
            ("stop asking", "permission.mode"),
            ("fewer prompts", "permission.mode"),
            ("skip permissions", "permission.mode"),
            ("notifcations", "ui.notify"),
            ("dark mode", "ui.theme"),
            ("max_iter", "agent.max_iterations"),
            ("port", "models.servers.ollama"),
            ("shell", "tools.bash.timeout_seconds"),
            ("ask me before changing", "permission.mode"),
            ("v", "ui.vim"),
            ("hide files", "permission.protected"),
            ("private", "permission.protected"),
        ] {
            let mut list = SettingsPicker::default();
            list.picker.type_text(typed);
            list.read(setting_rows(&Layers::defaults(), &[]));
            assert_eq!(list.chosen().map(|row| &*row.key), Some(key), "{typed}");
        }
        for (typed, told) in [
            ("proxy", "HTTPS_PROXY"),
            ("ssl certificate", "NODE_EXTRA_CA_CERTS"),
            ("privacy", "telemetry"),
            ("log", "TILLER_LOG"),
            ("api key", "/login"),
            ("login", "/login"),
            ("trust", "/trust"),
            ("system prompt", "SYSTEM.md"),
            ("instructions", "AGENTS.md"),
            ("CLAUDE.md", "AGENTS.md"),
            ("shortcut", "keymap.toml"),
            ("git push", "/permissions"),
            ("json", "--mode json"),
            ("endpoint", "models.toml"),
            ("keys", "keymap.toml"),
            ("docker", "docs docker"),
            ("clipboard", "docs clipboard"),
            ("password", "docs secrets"),
            ("python", "environment"),
            ("temperature", "/thinking"),
            ("editor", "VISUAL"),
            ("key", "/login"),
            ("diff", "Ctrl+O"),
            ("line wrap", "wraps words"),
            ("scroll speed", "wheel"),
            (
                "allow npm test",
                "/permissions allow npm test adds this rule",
            ),
            ("allow internet", "docs network"),
            ("allow everything", "Shift+Tab"),
        ] {
            let mut list = SettingsPicker::default();
            list.picker.type_text(typed);
            list.read(setting_rows(&Layers::defaults(), &[]));
            assert!(list.advice().is_some_and(|it| it.contains(told)), "{typed}");
        }
    }

    #[test]
    fn letters_inside_of_words_find_no_setting() {
        for typed in ["ont", "ermission", "zzqqj"] {
            let mut list = SettingsPicker::default();
            list.picker.type_text(typed);
            list.read(setting_rows(&Layers::defaults(), &[]));
            assert_eq!(list.chosen(), None, "{typed}");
        }
    }

    #[test]
    fn settings_that_the_list_leaves_out_match_if_nothing_else_does() {
        for (typed, key) in [
            ("undo.max_bytes", "undo.max_bytes"),
            ("parallel_tool_execution", "agent.parallel_tool_execution"),
            ("env_file", "auth.env_file_folders"),
        ] {
            let mut list = SettingsPicker::default();
            list.picker.type_text(typed);
            list.read(setting_rows(&Layers::defaults(), &[]));
            assert_eq!(list.chosen().map(|row| &*row.key), Some(key), "{typed}");
        }
        let mut list = SettingsPicker::default();
        list.read(setting_rows(&Layers::defaults(), &[]));
        let rows = list.rows.iter().flatten();
        let listed = rows.filter(|row| row.is_listed()).count();
        assert_eq!(list.picker.matches().len(), listed);
    }

    #[test]
    fn a_key_also_finds_a_setting_that_the_list_leaves_out() {
        let mut list = SettingsPicker::default();
        list.picker.type_text("models.auto_cache");
        list.read(setting_rows(&Layers::defaults(), &[]));
        assert_eq!(
            list.chosen().map(|row| &*row.key),
            Some("models.auto_cache")
        );
    }
}
