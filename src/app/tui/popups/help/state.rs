//! The help: every action with its keys and its command, grouped by task, and the pages of the
//! documentation. Typing filters it, and finds settings and sections of the pages too.

use std::borrow::Cow;

use crate::app::action::{ALIASES, Action, ActionSpec, ELSEWHERE, Group, Scope, actions};
use crate::app::config::documented;
use crate::app::manual::{PAGES, Section, begins_word, parts, search, search_words};
use crate::app::synonyms::{begins_one, instead_of, is_one, plain, words_for};
use crate::app::tui::keymap::{Chord, Keymap, label};
use crate::app::tui::popups::Picker;
use crate::llm::nearest::typo_of;

const DOCUMENTATION: &str = "Documentation";
const SETTINGS: &str = "Settings";
/// Maximum sections of the documentation in a search.
const MAX_SECTIONS: usize = 20;
/// Maximum settings below these sections.
const MAX_SETTINGS: usize = 10;
/// Maximum entries that have only most of the words.
const MAX_NEAR: usize = 5;

/// A row of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpRow {
    /// The heading of a group.
    Heading(&'static str),
    /// An entry of the group.
    Entry(HelpEntry),
}

/// Something to press or to type, and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HelpEntry {
    /// All its keys, joined.
    pub keys: String,
    /// Its command with the argument, or empty.
    pub command: String,
    /// What it does.
    pub text: Cow<'static, str>,
    /// `None` for the mouse and for signs in the prompt.
    pub spec: Option<&'static ActionSpec>,
    /// Names to search first, one per line: keys, command, aliases, name in key files.
    names: String,
    /// More words to search: the names and purpose of a setting.
    more: String,
    /// The section of the documentation that it opens.
    pub(crate) section: Option<Section>,
}

impl HelpEntry {
    /// What Enter does: the action, or opening the list in which it works.
    pub fn action(&self) -> Option<Action> {
        let spec = self.spec?;
        match spec.scope {
            Scope::Everywhere => Some(spec.action),
            Scope::Sessions => Some(Action::Resume),
            Scope::Tree => Some(Action::Tree),
            Scope::Selecting => Some(Action::SelectText),
            Scope::Popup | Scope::List | Scope::Pager => None,
        }
    }

    /// Whether Enter does something. A habitual Enter must not send.
    pub fn runs(&self) -> bool {
        self.action().is_some_and(|action| action != Action::Submit)
            || self.setting().is_some()
            || self.section.is_some()
    }

    /// The key of the setting that this entry is about. Only a search shows it.
    pub fn setting(&self) -> Option<&str> {
        self.command
            .strip_prefix("/settings ")
            .filter(|_| self.spec.is_none())
    }

    /// What other words are for: its action, its setting or another agent's command.
    fn subject(&self) -> &str {
        let action = self.spec.map(|spec| spec.name);
        let subject = action.or(self.setting());
        subject.unwrap_or_else(|| self.command.trim_start_matches('/'))
    }

    /// How well it fits, 0 best; `None` if a word is missing.
    fn tier(&self, typed: &str, words: &[String]) -> Option<usize> {
        let joined = words.concat();
        let is_called = || is_one(self.subject(), &joined);
        let is_action_called = || self.spec.is_some() && is_called();
        let in_names = || words.iter().all(|word| has_name(&self.names, word));
        let begins = || begins_one(self.subject(), typed) || begins_one(self.subject(), &joined);
        match () {
            () if self
                .names
                .lines()
                .any(|name| name == typed || name == joined) =>
            {
                Some(0)
            }
            () if is_action_called() || in_names() || self.is_setting(typed, &joined) => Some(1),
            () if is_called() => Some(2),
            () if self.count(words) == words.len() || begins() => Some(3),
            () => None,
        }
    }

    /// Whether it is the setting with this key or name, or the last part of its key is this.
    fn is_setting(&self, typed: &str, joined: &str) -> bool {
        self.setting().is_some_and(|key| {
            let last = key.rsplit('.').next().unwrap_or_default();
            let name = self.more.lines().next().unwrap_or_default();
            key == typed || plain(last) == joined || plain(name) == joined
        })
    }

    /// How many of the words it has.
    fn count(&self, words: &[String]) -> usize {
        let all = self.words();
        words.iter().filter(|word| has_word(&all, word)).count()
    }

    /// All words to search.
    fn words(&self) -> String {
        let name = self.spec.map_or("", |spec| spec.name);
        let related = words_for(name);
        // Other agents' commands have no names: tiller's own ones come first.
        let names = match &*self.names {
            "" => &self.command,
            names => names,
        };
        format!(
            "{names}\n{}\n{related}\n{}",
            self.text.to_lowercase(),
            self.more
        )
    }
}

/// The mouse, and signs that a prompt can begin with. They have no action.
const OTHERS: [(Group, &str, &str); 9] = [
    (Group::Writing, "/", "Run a command"),
    (Group::Writing, "@", "Mention a file"),
    (
        Group::Writing,
        "!",
        "Run a shell command; the model sees it",
    ),
    (
        Group::Writing,
        "!!",
        "Run a shell command; the model doesn't see it",
    ),
    (Group::Writing, "\\ Enter", "Start a new line"),
    (Group::Looking, "Click", "Show or hide an entry"),
    (Group::Looking, "Drag", "Select text and copy it"),
    (Group::Looking, "Ctrl+click", "Open the file or the link"),
    (Group::Looking, "Shift+drag", "Let the terminal select text"),
];

/// Whether the query is a key with its modifiers: `ctrl+b`.
fn is_key(typed: &str) -> bool {
    typed.contains('+') && typed.parse::<Chord>().is_ok()
}

/// Whether a word of `text` is `word` or begins so. A key matches as a whole, other signs anywhere.
fn has_word(text: &str, word: &str) -> bool {
    if is_key(word) {
        let mut words = text.split(|c: char| c.is_whitespace() || "`,;:()|".contains(c));
        words.any(|it| it == word)
    } else if word.chars().all(char::is_alphanumeric) {
        parts(text).any(|part| begins_word(part, word))
    } else {
        text.contains(word)
    }
}

/// The same for names, of which a letter is enough.
fn has_name(names: &str, word: &str) -> bool {
    has_word(names, word) || parts(names).any(|part| part.starts_with(word))
}

/// The open help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpList {
    /// The query and the matches.
    pub picker: Picker,
    /// All rows, and after them the sections that the search has found.
    pub rows: Vec<HelpRow>,
    /// The rows without the sections.
    fixed: usize,
}

impl HelpList {
    /// The whole help.
    pub fn new(keymap: &Keymap) -> Self {
        let rows = help_rows(keymap);
        let mut list = Self {
            picker: Picker::default(),
            fixed: rows.len(),
            rows,
        };
        list.search();
        list
    }

    /// Finds the entries with each word, first those with the words in their names, then sections of
    /// the documentation, then settings that only mention the words. If there are none, finds what the
    /// query is a typo of or has most words of.
    pub fn search(&mut self) {
        self.rows.truncate(self.fixed);
        let typed = self.picker.query().trim().to_lowercase();
        // A question may end in its mark.
        let asked = typed.trim_end_matches(['?', '!', '.']);
        let typed = if asked.is_empty() { &typed } else { asked };
        let found = if typed.is_empty() {
            let is_setting = |row: &HelpRow| match row {
                HelpRow::Entry(entry) => entry.setting().is_some(),
                HelpRow::Heading(title) => *title == SETTINGS,
            };
            let rows = self.rows.iter().enumerate();
            rows.filter(|(_, row)| !is_setting(row))
                .map(|(at, _)| at)
                .collect()
        } else {
            self.find(typed)
        };
        let headings = self
            .rows
            .iter()
            .map(|row| matches!(row, HelpRow::Heading(_)));
        self.picker.set_headings(headings.collect());
        self.picker.set_matches(found, 0);
    }

    fn find(&mut self, typed: &str) -> Vec<usize> {
        let mut docs = search(typed);
        let is_key = is_key(typed);
        if is_key {
            let has = |section: &Section| has_word(&section.text.to_lowercase(), typed);
            docs.sections.retain(has);
        }
        let words = query_words(typed);
        let heading = docs.sections.first().map(Section::heading);
        let heading = heading.unwrap_or_default().to_lowercase();
        let is_titled = words.iter().all(|word| has_word(&heading, word));
        // A section about the words is better than a setting that has to do with them.
        let last = if is_titled { 1 } else { 2 };
        let is_main = |entry: &HelpEntry, tier| tier <= last || entry.setting().is_none();
        let tier = |entry: &HelpEntry| entry.tier(typed, &words);
        let mut found = self.entries(|entry| tier(entry).filter(|tier| is_main(entry, *tier)));
        let mut settings = self.entries(|entry| tier(entry).filter(|tier| !is_main(entry, *tier)));
        let advice = instead_of(&words.concat());
        // A key has no typo, and an advice is the answer.
        let is_final = is_key || advice.is_some() || docs.is_exact;
        if found.is_empty() && settings.is_empty() && !is_final {
            found = self.entries(|entry| typo_of(typed, entry.names.lines()).map(|_| 0));
            if found.is_empty() && words.len() > 1 {
                let least = words.len().div_ceil(2);
                found = self.entries(|entry| {
                    let has = entry.count(&words);
                    (has >= least && entry.setting().is_none()).then_some(words.len() - has)
                });
                found.truncate(MAX_NEAR);
            }
        }
        let most = if docs.is_exact {
            MAX_SECTIONS
        } else {
            MAX_NEAR
        };
        let is_told = |row: &HelpRow| match row {
            HelpRow::Entry(it) => it.spec.is_none() && it.setting().is_none(),
            HelpRow::Heading(_) => false,
        };
        // The whole title of a section means the section.
        if heading == typed {
            found.retain(|at| !is_told(&self.rows[*at]));
        }
        let is_told = found.iter().any(|at| is_told(&self.rows[*at]));
        let advice = advice.filter(|_| !is_told).map(|advice| {
            self.rows.push(HelpRow::Entry(HelpEntry {
                text: format!("Not a setting: {advice}").into(),
                ..HelpEntry::default()
            }));
            self.rows.len() - 1
        });
        // A section about the words says more.
        found.extend(advice.filter(|_| !docs.is_titled));
        let sections = &docs.sections[..docs.sections.len().min(most)];
        if !sections.is_empty() {
            found.extend(self.heading(DOCUMENTATION));
            found.extend(self.rows.len()..self.rows.len() + sections.len());
            let rows = sections.iter().map(|section| {
                HelpRow::Entry(HelpEntry {
                    text: section.name().into(),
                    section: Some(*section),
                    ..HelpEntry::default()
                })
            });
            self.rows.extend(rows);
        }
        settings.truncate(MAX_SETTINGS);
        settings.extend(advice.filter(|_| docs.is_titled));
        if !settings.is_empty() {
            found.extend(self.heading(SETTINGS));
            found.extend(settings);
        }
        found
    }

    /// The entries with a rank, the lowest first. Sections have their own search.
    fn entries(&self, rank: impl Fn(&HelpEntry) -> Option<usize>) -> Vec<usize> {
        let rows = self.rows.iter().enumerate();
        let ranked = rows.filter_map(|(at, row)| match row {
            HelpRow::Entry(entry) if entry.section.is_none() => Some((rank(entry)?, at)),
            _ => None,
        });
        let mut ranked: Vec<(usize, usize)> = ranked.collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, at)| at).collect()
    }

    fn heading(&self, title: &'static str) -> Option<usize> {
        let is_heading = |row: &HelpRow| *row == HelpRow::Heading(title);
        self.rows.iter().position(is_heading)
    }

    /// The selected entry.
    pub fn chosen(&self) -> Option<&HelpEntry> {
        match self.rows.get(self.picker.chosen()?)? {
            HelpRow::Entry(entry) => Some(entry),
            HelpRow::Heading(_) => None,
        }
    }
}

/// All rows, each group with its heading.
pub fn help_rows(keymap: &Keymap) -> Vec<HelpRow> {
    let mut rows = Vec::new();
    for group in Group::ALL {
        rows.push(HelpRow::Heading(group.title()));
        let others = OTHERS.iter().filter(|(of, ..)| *of == group);
        rows.extend(others.map(|(_, keys, text)| {
            HelpRow::Entry(HelpEntry {
                keys: (*keys).to_owned(),
                text: (*text).into(),
                names: keys.to_lowercase(),
                ..HelpEntry::default()
            })
        }));
        let specs = actions().filter(|spec| spec.group == group);
        rows.extend(specs.map(|spec| HelpRow::Entry(entry(keymap, spec))));
    }
    rows.push(HelpRow::Heading("Commands of other agents"));
    let elsewhere = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
    rows.extend(elsewhere.map(|(names, instead)| {
        HelpRow::Entry(HelpEntry {
            command: format!("/{}", names.replace(' ', " /")),
            text: instead.into(),
            ..HelpEntry::default()
        })
    }));
    rows.push(HelpRow::Heading(SETTINGS));
    rows.extend(documented().map(|(key, name, about)| {
        HelpRow::Entry(HelpEntry {
            more: format!("{name}\n{about}").to_lowercase(),
            command: format!("/settings {key}"),
            text: if name == key { about } else { name }.into(),
            ..HelpEntry::default()
        })
    }));
    rows.push(HelpRow::Heading(DOCUMENTATION));
    let first = PAGES.iter().filter_map(|page| Section::of(page).next());
    rows.extend(first.map(|section| {
        HelpRow::Entry(HelpEntry {
            command: format!("docs {}", section.page.topic),
            text: section.heading().into(),
            section: Some(section),
            ..HelpEntry::default()
        })
    }));
    rows
}

/// The words to search in actions: those of the documentation's search, or else signs.
fn query_words(typed: &str) -> Vec<String> {
    let is_sign = |word: &&str| word.chars().any(|c| !c.is_alphanumeric());
    let signs: Vec<&str> = typed.split_whitespace().filter(is_sign).collect();
    if signs.is_empty() {
        search_words(typed)
    } else {
        typed.split_whitespace().map(str::to_owned).collect()
    }
}

fn entry(keymap: &Keymap, spec: &'static ActionSpec) -> HelpEntry {
    let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
    let command = match (spec.slash, spec.argument) {
        (Some(slash), Some(argument)) => format!("/{slash} {argument}"),
        (Some(slash), None) => format!("/{slash}"),
        (None, _) => String::new(),
    };
    let aliases = ALIASES
        .iter()
        .map(|(alias, of)| (alias, of.split(' ').next()));
    let aliases = aliases.filter(|(_, of)| spec.slash == *of);
    let mut names: Vec<String> = keys.clone();
    names.extend(spec.slash.map(|slash| format!("/{slash}\n{slash}")));
    names.extend(aliases.map(|(alias, _)| format!("/{alias}\n{alias}")));
    names.extend([spec.name.to_owned(), spec.name.replace('_', " ")]);
    HelpEntry {
        keys: keys.join(", "),
        command,
        text: spec.help.into(),
        spec: Some(spec),
        names: names.join("\n").to_lowercase(),
        more: String::new(),
        section: None,
    }
}
