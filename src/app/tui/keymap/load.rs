//! Reads key files: `action = "key"` or `action = ["key", "key"]`, one line per action, in the
//! section where the keys work (`[editor]`) or before any section. Reports each mistake with its
//! line and, if possible, a suggestion. The other lines still apply.

use std::io::ErrorKind;
use std::path::Path;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::chord::Chord;
use super::map::{Keymap, clash};
use crate::agent::word_list::WordList;
use crate::app::action::{Action, actions};
use crate::app::tui::terminal::input::{KeyPress, ParseKeyError};
use crate::llm::nearest::nearest;
use crate::llm::read_small::read_small;
use crate::llm::toml_fault::reworded;

/// A valid line, for errors.
const EXAMPLE: &str = "quit = \"ctrl+q\"";

const DEFAULT: &str = include_str!("../../../../assets/keymap.toml");

/// A mistake in a key file: where it is, what's wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct KeymapError {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut map = Self {
            bindings: Vec::new(),
        };
        // A test checks the built-in file; a mistake could only omit keys.
        overlay(&mut map, "assets/keymap.toml", DEFAULT);
        map
    }
}

impl Keymap {
    /// The default keys with the user's file on top, and the mistakes in that file.
    pub fn load(file: &Path) -> (Self, Vec<KeymapError>) {
        match read_small(file) {
            Ok(text) => Self::with(&file.display().to_string(), &text),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                (Self::default(), Vec::new())
            }
            Err(error) => {
                let fault = KeymapError {
                    file: file.display().to_string(),
                    line: 1,
                    message: format!("can't read this file: {error}"),
                };
                (Self::default(), vec![fault])
            }
        }
    }

    /// The default keys with `text` on top, and the mistakes in it; `file` is the name in messages.
    pub fn with(file: &str, text: &str) -> (Self, Vec<KeymapError>) {
        let mut map = Self::default();
        let faults = overlay(&mut map, file, text);
        (map, faults)
    }
}

fn overlay(map: &mut Keymap, file: &str, text: &str) -> Vec<KeymapError> {
    let fault = |at: usize, message: String| KeymapError {
        file: file.to_owned(),
        line: text[..at.min(text.len())].matches('\n').count() + 1,
        message,
    };
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let start = text[..at.min(text.len())]
                .rfind('\n')
                .map_or(0, |end| end + 1);
            let line = text[start..].lines().next().unwrap_or_default();
            let what = match meant_line(line) {
                // Wrong only beside the other lines.
                _ if DeTable::parse(line).is_ok() => reworded(text, &error),
                Some(meant) => format!("write `{meant}`"),
                None => format!(
                    "`{}` isn't valid TOML ({}); write lines like `{EXAMPLE}`",
                    line.trim(),
                    reworded(text, &error)
                ),
            };
            return vec![fault(at, format!("{what}; tiller ignores this file"))];
        }
    };
    let mut faults = Vec::new();
    let mut taken: Vec<(Chord, Action)> = Vec::new();
    let mut last_keys: Vec<(usize, Action, &str)> = Vec::new();
    // In file order, so that the first mistake in the file is reported first.
    let mut lines = Vec::new();
    for (name, value) in table.get_ref() {
        match value.get_ref() {
            DeValue::Table(section) => {
                let of = |(action, keys)| (Some(name.get_ref().as_ref()), action, keys);
                lines.extend(section.iter().map(of));
            }
            _ => lines.push((None, name, value)),
        }
    }
    lines.sort_by_key(|(_, name, _)| name.span().start);
    for (section, name, value) in lines {
        let at = name.span().start;
        let name = name.get_ref().as_ref();
        let Some(action) = Action::from_name(name) else {
            faults.push(fault(at, unknown_action(name)));
            continue;
        };
        let spec = action.spec();
        let right = spec.scope.section(spec.group);
        if let Some(section) = section.filter(|section| *section != right) {
            let text = format!("`{name}` belongs in [{right}], not in [{section}]");
            faults.push(fault(at, text));
            continue;
        }
        let (found, wrong) = keys(value);
        let nothing_left = found.is_empty() && !wrong.is_empty();
        faults.extend(wrong.into_iter().map(|(at, message)| fault(at, message)));
        let mut bound = Vec::new();
        for (at, key) in found {
            let other = taken
                .iter()
                .find(|(known, other)| known.hides(&key) && clash(*other, action));
            match other {
                Some((known, other)) => {
                    let other = other.spec().name;
                    let message = if *known == key {
                        format!("`{key}` is already bound to `{other}` in this file")
                    } else {
                        format!(
                            "`{key}` clashes with `{known}`, which is bound to `{other}`: one \
                             is the start of the other"
                        )
                    };
                    faults.push(fault(at, message));
                }
                None => {
                    taken.push((key.clone(), action));
                    bound.push(key);
                }
            }
        }
        // If all keys of a line are wrong, the action keeps its keys.
        if !nothing_left {
            let stops = [Action::Cancel, Action::Interrupt];
            let stops = stops.map(|stop| (stop, map.label(stop).is_some()));
            map.bind(action, &bound);
            let lost = stops
                .iter()
                .filter(|(stop, had)| *had && *stop != action && map.label(*stop).is_none());
            last_keys.extend(lost.map(|(stop, _)| (at, *stop, action.spec().name)));
        }
    }
    // Another line may have given them a new key.
    for (at, stop, action) in last_keys {
        if map.label(stop).is_none() {
            let name = stop.spec().name;
            let what = stop.spec().help;
            let text = format!(
                "`{action}` takes the last key of `{name}` ({what}): give `{name}` another key, for example \
                 {name} = \"f12\""
            );
            faults.push(fault(at, text));
        }
    }
    faults
}

/// What an invalid line means that lacks quotes, or has the key before the action.
fn meant_line(line: &str) -> Option<String> {
    let (left, right) = line.split_once('=')?;
    let [left, right] = [left, right].map(|part| part.trim().trim_matches(['"', '\'']));
    [(left, right), (right, left)].into_iter().find_map(|it| {
        let action = Action::from_name(it.0)?;
        let key: Chord = it.1.to_lowercase().parse().ok()?;
        Some(format!("{} = \"{key}\"", action.spec().name))
    })
}

type Fault = (usize, String);

/// The valid keys of one line with their places, and the invalid ones.
fn keys(value: &Spanned<DeValue<'_>>) -> (Vec<(usize, Chord)>, Vec<Fault>) {
    let one = |value: &Spanned<DeValue<'_>>| {
        let at = value.span().start;
        let DeValue::String(text) = value.get_ref() else {
            let text = format!("a key must be a string in quotes, as in `{EXAMPLE}`");
            return Err((at, text));
        };
        text.parse()
            .map(|key| (at, key))
            .map_err(|error| (at, unknown_key(text, &error)))
    };
    let list = match value.get_ref() {
        DeValue::Array(list) => list.iter().map(one).collect(),
        _ => vec![one(value)],
    };
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for key in list {
        match key {
            Ok(key) => found.push(key),
            Err(fault) => wrong.push(fault),
        }
    }
    (found, wrong)
}

/// Actions of older versions: single letters that answered questions.
const REMOVED: WordList = WordList(
    "allow_once allow_in_session allow_in_project allow_always refuse_call show_call yes no",
);

fn unknown_action(name: &str) -> String {
    if REMOVED.contains(name) {
        return format!(
            "`{name}` no longer exists: to answer a question, select with the arrows or a number and \
             press Enter. Remove this line"
        );
    }
    if name.parse::<KeyPress>().is_ok() {
        return format!("`{name}` is a key; write the action first: ACTION = \"{name}\"");
    }
    let names = actions().map(|spec| spec.name);
    match nearest(name, names) {
        Some(near) => format!("unknown action `{name}`: did you mean `{near}`?"),
        None => format!(
            "unknown action `{name}`: F1 in tiller shows the name of every action. Write lines like \
             `{EXAMPLE}`"
        ),
    }
}

/// Suggests a similar valid key.
fn unknown_key(text: &str, error: &ParseKeyError) -> String {
    let repair = |part| match nearest(part, KeyPress::names()) {
        // A single character is a valid key.
        Some(name) if part.chars().nth(1).is_some() => name,
        _ => part,
    };
    let lower = text.to_lowercase().replace(['-', ' '], "+");
    let repaired: Vec<&str> = lower.split('+').map(repair).collect();
    match repaired.join("+").parse::<KeyPress>() {
        Ok(key) => format!("unknown key `{text}`: did you mean `{key}`?"),
        Err(_) => error.to_string(),
    }
}
