//! The help: every action with its keys and its command, grouped by task. Typing filters it.

use super::picker::Picker;
use crate::app::action::{ACTIONS, ALIASES, Action, ActionSpec, ELSEWHERE, Group, Scope};
use crate::app::tui::keymap::{Keymap, label};
use crate::llm::nearest::typo_of;

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
    pub text: &'static str,
    /// `None` for the mouse and for signs in the prompt.
    pub spec: Option<&'static ActionSpec>,
    /// Names to search first, one per line: keys, command, aliases, name in key files.
    names: String,
}

impl HelpEntry {
    /// Whether Enter runs the entry: if it works outside popups. A habitual Enter must not send.
    pub fn runs(&self) -> bool {
        let spec = self.spec.filter(|spec| spec.action != Action::Submit);
        spec.is_some_and(|spec| spec.scope == Scope::Everywhere)
    }

    /// All words to search.
    fn words(&self) -> String {
        let name = self.spec.map_or("", |spec| spec.name);
        let mut related = RELATED.lines().filter_map(|line| line.split_once(": "));
        let related = related.find(|(of, _)| *of == name).unwrap_or_default().1;
        // Other agents' commands have no names: tiller's own ones come first.
        let names = match &*self.names {
            "" => &self.command,
            names => names,
        };
        format!("{names}\n{}\n{related}", self.text.to_lowercase())
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

/// Words that people look for and that the action's help doesn't have.
const RELATED: &str = "theme: dark light colour scheme appearance
permission_mode: sandbox rules allow deny approve approval yolo bypass safe security
settings: preferences options config configuration vim permission rules sandbox
cost: price money usage bill
login: provider token sign in account
rewind: checkpoint restore revert
undo_turn: revert restore reset
export: save share markdown
resume: continue history previous
submit: resume continue retry
init: memory instructions
cancel: abort interrupt kill";

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
                _ if words.is_empty() => Some((0, at)),
                HelpRow::Heading(_) => None,
                HelpRow::Entry(entry) => {
                    let has = |text: &str| words.iter().all(|word| begins_a_word(text, word));
                    let tier = match () {
                        () if entry.names.lines().any(|name| name == typed) => 0,
                        () if has(&entry.names) => 1,
                        () if has(&entry.words()) => 2,
                        () => typo_of(&typed, entry.names.lines()).map(|_| 3)?,
                    };
                    Some((tier, at))
                }
            })
            .collect();
        found.sort_unstable();
        let has_words = found.first().is_some_and(|(tier, _)| *tier < 3);
        found.retain(|(tier, _)| *tier < 3 || !has_words);
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
    let mut rows = Vec::with_capacity(ACTIONS.len() + 20);
    for group in Group::ALL {
        rows.push(HelpRow::Heading(group.title()));
        let others = OTHERS.iter().filter(|(of, ..)| *of == group);
        rows.extend(others.map(|(_, keys, text)| {
            HelpRow::Entry(HelpEntry {
                keys: (*keys).to_owned(),
                text,
                names: keys.to_lowercase(),
                ..HelpEntry::default()
            })
        }));
        let specs = ACTIONS.iter().filter(|spec| spec.group == group);
        rows.extend(specs.map(|spec| HelpRow::Entry(entry(keymap, spec))));
    }
    rows.push(HelpRow::Heading("Commands of other agents"));
    let elsewhere = ELSEWHERE.lines().filter_map(|line| line.split_once(": "));
    rows.extend(elsewhere.map(|(names, instead)| {
        HelpRow::Entry(HelpEntry {
            command: format!("/{}", names.replace(' ', " /")),
            text: instead,
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
    names.extend(aliases.map(|(alias, _)| (*alias).to_owned()));
    names.extend([spec.name.to_owned(), spec.name.replace('_', " ")]);
    HelpEntry {
        keys: keys.join(", "),
        command,
        text: spec.help,
        spec: Some(spec),
        names: names.join("\n").to_lowercase(),
    }
}
