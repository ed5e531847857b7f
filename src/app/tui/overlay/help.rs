//! The help: every action with its keys and its command, grouped by task. Typing filters it.

use super::picker::Picker;
use crate::app::action::{ACTIONS, ALIASES, Action, ActionSpec, Group, Scope};
use crate::app::fuzzy::Query;
use crate::app::tui::keymap::{Keymap, label};

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

    /// Finds the entries with all words, first those with the words in their names. If there are
    /// none, finds those with the letters in this order.
    pub fn search(&mut self) {
        let typed = self.picker.query().to_lowercase();
        let mut query = Query::new(&typed);
        let rows = self.rows.iter().enumerate();
        let mut found: Vec<_> = rows
            .filter_map(|(at, row)| match row {
                HelpRow::Heading(_) => query.words().is_empty().then_some(((false, 0, 0), at)),
                HelpRow::Entry(_) if query.words().is_empty() => Some(((false, 0, 0), at)),
                HelpRow::Entry(entry) => {
                    let names = query.fit(at, &entry.names);
                    let all = format!("{} {}", entry.names, entry.text.to_lowercase());
                    let fit = query.fit(at, &all)?;
                    let tier = match names {
                        _ if entry.names.lines().any(|name| name == typed) => 0,
                        Some(names) if !names.scattered => 1,
                        _ => 2,
                    };
                    let score = if fit.scattered { fit.score } else { 0 };
                    Some(((fit.scattered, tier, u32::MAX - score), at))
                }
            })
            .collect();
        found.sort_unstable();
        let words = found
            .iter()
            .filter(|((scattered, ..), _)| !scattered)
            .count();
        if words > 0 {
            found.truncate(words);
        }
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
    rows
}

fn entry(keymap: &Keymap, spec: &'static ActionSpec) -> HelpEntry {
    let keys: Vec<String> = keymap.keys(spec.action).map(label).collect();
    let command = match (spec.slash, spec.argument) {
        (Some(slash), Some(argument)) => format!("/{slash} {argument}"),
        (Some(slash), None) => format!("/{slash}"),
        (None, _) => String::new(),
    };
    let aliases = ALIASES.iter().filter(|(_, of)| spec.slash == Some(*of));
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
