//! The help: every action with its keys and its command, grouped by task, and the pages of the
//! documentation. Typing filters it, and finds settings and sections of the pages too.

use std::borrow::Cow;

use crate::app::action::{ALIASES, Action, ActionSpec, ELSEWHERE, Group, Scope, actions};
use crate::app::config::documented;
use crate::app::manual::{PAGES, Section, search, search_words, whole_word};
use crate::app::synonyms::{begins_one, words_for};
use crate::app::tui::keymap::{Keymap, label};
use crate::app::tui::popups::Picker;
use crate::llm::nearest::typo_of;

const DOCUMENTATION: &str = "Documentation";
/// Maximum sections of the documentation in a search.
const MAX_SECTIONS: usize = 20;
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

    /// Whether another word for its action or setting begins so.
    fn is_called(&self, typed: &str) -> bool {
        let action = self.spec.map(|spec| spec.name);
        let mut names = action.into_iter().chain(self.setting());
        names.any(|name| begins_one(name, typed))
    }

    /// How well it fits, 0 best; `None` if a word is missing.
    fn tier(&self, typed: &str, words: &[String]) -> Option<usize> {
        let in_names = || words.iter().all(|word| has_word(&self.names, word));
        match () {
            () if self.names.lines().any(|name| name == typed) => Some(0),
            () if in_names() => Some(1),
            () if self.count(words) == words.len() || self.is_called(typed) => Some(2),
            () => None,
        }
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

/// Whether a word of `text` begins with `word`, or is the same but for its ending; signs match
/// anywhere.
fn has_word(text: &str, word: &str) -> bool {
    let is_sign = !word.starts_with(char::is_alphanumeric);
    let mut places = text.match_indices(word).map(|(at, _)| at);
    let mut parts = text.split(|c: char| !c.is_alphanumeric());
    places.any(|at| is_sign || !text[..at].ends_with(char::is_alphanumeric))
        || parts.any(|part| !part.is_empty() && whole_word(part, word))
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
    /// the documentation. If there are none, finds what the query is a typo of or has most words of.
    pub fn search(&mut self) {
        self.rows.truncate(self.fixed);
        let typed = self.picker.query().trim().to_lowercase();
        // A question may end in its mark.
        let asked = typed.trim_end_matches(['?', '!', '.']);
        let typed = if asked.is_empty() { &typed } else { asked };
        let found = if typed.is_empty() {
            let is_setting = |row: &HelpRow| match row {
                HelpRow::Entry(entry) => entry.setting().is_some(),
                HelpRow::Heading(_) => false,
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
        let docs = search(typed);
        let words = query_words(typed);
        let mut found = self.entries(|entry| entry.tier(typed, &words));
        if found.is_empty() && !docs.is_exact {
            found = self.entries(|entry| typo_of(typed, entry.names.lines()).map(|_| 0));
        }
        if found.is_empty() && words.len() > 1 {
            let least = words.len().div_ceil(2);
            found = self.entries(|entry| {
                let missing = words.len() - entry.count(&words);
                (words.len() - missing >= least).then_some(missing)
            });
            found.truncate(MAX_NEAR);
        }
        let sections = &docs.sections[..docs.sections.len().min(MAX_SECTIONS)];
        if let (false, Some(heading)) = (sections.is_empty(), self.heading_of_docs()) {
            found.push(heading);
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

    fn heading_of_docs(&self) -> Option<usize> {
        let is_heading = |row: &HelpRow| *row == HelpRow::Heading(DOCUMENTATION);
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
