//! Maps key presses to actions, and actions to keys for the help.

use std::fmt::Display;

use super::chord::Chord;
use crate::app::action::{Action, Scope};
use crate::app::tui::terminal::input::KeyPress;

/// The keys of every action. With some fifty pairs, a linear search is faster than hashing.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    pub(super) bindings: Vec<(Chord, Action)>,
}

/// The meaning of the keys pressed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// This.
    Action(Action),
    /// The start of a longer chord.
    Begins,
    /// Nothing.
    Nothing,
}

impl Keymap {
    /// The action of `press` alone in `scope`. Its bindings win over those of outer scopes.
    pub fn resolve(&self, press: KeyPress, scope: Scope) -> Option<Action> {
        match self.meaning(&[press], scope) {
            Meaning::Action(action) => Some(action),
            Meaning::Begins | Meaning::Nothing => None,
        }
    }

    /// The meaning of these keys in a row in `scope`.
    pub fn meaning(&self, keys: &[KeyPress], scope: Scope) -> Meaning {
        let mut scopes = std::iter::successors(Some(scope), |scope| scope.outer());
        let found = scopes.find_map(|scope| {
            let mut bindings = self.bindings.iter();
            bindings
                .find(|(chord, action)| {
                    chord.keys().starts_with(keys) && action.spec().scope == scope
                })
                .map(|(chord, action)| {
                    if chord.keys().len() == keys.len() {
                        Meaning::Action(*action)
                    } else {
                        Meaning::Begins
                    }
                })
        });
        found.unwrap_or(Meaning::Nothing)
    }

    /// The keys of `action`, in the order they were given.
    pub fn keys(&self, action: Action) -> impl Iterator<Item = &Chord> {
        self.bindings
            .iter()
            .filter(move |(_, bound)| *bound == action)
            .map(|(key, _)| key)
    }

    /// The first key of `action` as shown to the user (`Alt+Up`), if it has one.
    pub fn label(&self, action: Action) -> Option<String> {
        self.keys(action).next().map(label)
    }

    /// Binds exactly these keys to `action`, and takes them from clashing actions.
    pub(super) fn bind(&mut self, action: Action, keys: &[Chord]) {
        self.bindings.retain(|(key, bound)| {
            let hidden = || keys.iter().any(|new| new.hides(key));
            *bound != action && !(clash(*bound, action) && hidden())
        });
        self.bindings
            .extend(keys.iter().map(|key| (key.clone(), action)));
    }
}

/// Whether two actions can't share a key.
pub(super) fn clash(one: Action, other: Action) -> bool {
    one.spec().scope == other.spec().scope
}

/// One or more keys as shown to the user: `Ctrl+Enter`, `PageUp`, `F1`, `Ctrl+K Ctrl+S`.
pub fn label(keys: impl Display) -> String {
    let keys = keys.to_string();
    let keys: Vec<String> = keys.split(' ').map(one_label).collect();
    keys.join(" ")
}

fn one_label(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    for part in written.split_inclusive('+') {
        match part.trim_end_matches('+') {
            "pageup" => out.push_str("PageUp"),
            "pagedown" => out.push_str("PageDown"),
            name => {
                let alone = name.chars().count() == 1 && out.is_empty();
                let mut chars = name.chars();
                if let Some(first) = chars.next() {
                    // A lone letter is shown as typed; with Ctrl it's shown as printed on the key.
                    if alone {
                        out.push(first);
                    } else {
                        out.extend(first.to_uppercase());
                    }
                }
                out.push_str(chars.as_str());
            }
        }
        if part.ends_with('+') {
            out.push('+');
        }
    }
    out
}
