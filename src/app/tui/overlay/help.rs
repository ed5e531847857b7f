//! The help: every action with its keys and its command, grouped by task, and the pages of the
//! documentation. Typing filters it, and finds settings too.

use std::borrow::Cow;

use super::picker::Picker;
use crate::app::action::{ALIASES, Action, ActionSpec, ELSEWHERE, Group, Scope, actions};
use crate::app::config::documented;
use crate::app::manual::{PAGES, Page};
use crate::app::synonyms::{begins_one, words_for};
use crate::app::tui::keymap::{Keymap, label};
use crate::llm::nearest::typo_of;

/// How the entry of a page begins.
const PAGE: &str = "docs ";

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
    /// More words to search: of a setting its names and purpose, of a page its headings.
    more: String,
    /// The text of a page.
    body: String,
}

impl HelpEntry {
    /// Whether Enter runs the entry: if it works outside popups. A habitual Enter must not send.
    pub fn runs(&self) -> bool {
        let spec = self.spec.filter(|spec| spec.action != Action::Submit);
        spec.is_some_and(|spec| spec.scope == Scope::Everywhere)
            || self.setting().is_some()
            || self.page().is_some()
    }

    /// The key of the setting that this entry is about. Only a search shows it.
    pub fn setting(&self) -> Option<&str> {
        self.command
            .strip_prefix("/settings ")
            .filter(|_| self.spec.is_none())
    }

    /// The page of the documentation that this entry opens.
    pub(crate) fn page(&self) -> Option<&'static Page> {
        let topic = self.command.strip_prefix(PAGE)?;
        PAGES.iter().find(|page| page.topic == topic)
    }

    /// Whether another word for its action or setting begins so.
    fn is_called(&self, typed: &str) -> bool {
        let action = self.spec.map(|spec| spec.name);
        let mut names = action.into_iter().chain(self.setting());
        names.any(|name| begins_one(name, typed))
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

/// Whether a word of `text` begins with `word`; signs match anywhere.
fn begins_a_word(text: &str, word: &str) -> bool {
    let is_sign = !word.starts_with(char::is_alphanumeric);
    let mut places = text.match_indices(word).map(|(at, _)| at);
    places.any(|at| is_sign || !text[..at].ends_with(char::is_alphanumeric))
}

/// The open help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpList {
    /// The query and the matches.
    pub picker: Picker,
    /// All rows.
    pub rows: Vec<HelpRow>,
}

impl HelpList {
    /// The whole help.
    pub fn new(keymap: &Keymap) -> Self {
        let mut list = Self {
            picker: Picker::default(),
            rows: help_rows(keymap),
        };
        list.search();
        list
    }

    /// Finds the entries where each word begins a word, first those with the words in their names. If
    /// there are none, finds the name that the query is a typo of.
    pub fn search(&mut self) {
        let typed = self.picker.query().trim().to_lowercase();
        let words: Vec<&str> = typed.split_whitespace().collect();
        let rows = self.rows.iter().enumerate();
        let mut found: Vec<(u8, usize)> = rows
            .filter_map(|(at, row)| match row {
                HelpRow::Entry(entry) if words.is_empty() => {
                    entry.setting().is_none().then_some((0, at))
                }
                HelpRow::Heading(_) => words.is_empty().then_some((0, at)),
                HelpRow::Entry(entry) => {
                    let has = |text: &str| words.iter().all(|word| begins_a_word(text, word));
                    let tier = match () {
                        () if entry.names.lines().any(|name| name == typed) => 0,
                        () if has(&entry.names) => 1,
                        () if has(&entry.words()) || entry.is_called(&typed) => 2,
                        () if has(&entry.body) => 3,
                        () => typo_of(&typed, entry.names.lines()).map(|_| 4)?,
                    };
                    Some((tier, at))
                }
            })
            .collect();
        found.sort_unstable();
        // Pages that only mention the words come last, and a guess only if nothing has them.
        let has_words = found.first().is_some_and(|(tier, _)| *tier < 4);
        found.retain(|(tier, _)| *tier < 4 || !has_words);
        let headings = self
            .rows
            .iter()
            .map(|row| matches!(row, HelpRow::Heading(_)));
        self.picker.set_headings(headings.collect());
        self.picker
            .set_matches(found.into_iter().map(|(_, at)| at).collect(), 0);
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
    rows.extend(documented().map(|(key, name, about)| {
        HelpRow::Entry(HelpEntry {
            more: format!("{name}\n{about}").to_lowercase(),
            command: format!("/settings {key}"),
            text: if name == key { about } else { name }.into(),
            ..HelpEntry::default()
        })
    }));
    rows.push(HelpRow::Heading("Documentation"));
    rows.extend(PAGES.iter().map(|page| {
        // Those of the reference repeat the settings and commands above.
        let is_guide = !page.topic.contains('/');
        let headings = page
            .text
            .lines()
            .filter(|line| is_guide && line.starts_with('#'));
        HelpRow::Entry(HelpEntry {
            command: format!("{PAGE}{}", page.topic),
            text: page.title().into(),
            more: headings.collect::<Vec<_>>().join("\n").to_lowercase(),
            body: if is_guide {
                page.text.to_lowercase()
            } else {
                String::new()
            },
            ..HelpEntry::default()
        })
    }));
    rows
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
        body: String::new(),
    }
}
