//! From a key press to an action, and back for the help.

use crate::app::action::{Action, Scope};
use crate::app::tui::input::KeyPress;

/// The keys of every action. Some fifty pairs: looking through them costs less than hashing.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    pub(super) bindings: Vec<(KeyPress, Action)>,
}

impl Keymap {
    /// The action `press` means in `scope`: its own bindings come before those of the scopes around
    /// it.
    pub fn resolve(&self, press: KeyPress, scope: Scope) -> Option<Action> {
        let bound_in = |scope| {
            let mut bindings = self.bindings.iter();
            bindings.find(|(key, action)| *key == press && action.spec().scope == scope)
        };
        let found = bound_in(scope)
            .or_else(|| bound_in(scope.outer()?))
            .or_else(|| bound_in(Scope::Everywhere));
        found.map(|(_, action)| *action)
    }

    /// The keys of `action`, in the order they were given.
    pub fn keys(&self, action: Action) -> impl Iterator<Item = KeyPress> {
        self.bindings
            .iter()
            .filter(move |(_, bound)| *bound == action)
            .map(|(key, _)| *key)
    }

    /// The first key of `action` as users write it (`Alt+Up`), when it has one.
    pub fn label(&self, action: Action) -> Option<String> {
        self.keys(action).next().map(label)
    }

    /// Gives `action` exactly these keys, taking them from actions they would clash with.
    pub(super) fn bind(&mut self, action: Action, keys: &[KeyPress]) {
        self.bindings.retain(|(key, bound)| {
            *bound != action && !(keys.contains(key) && clash(*bound, action))
        });
        self.bindings.extend(keys.iter().map(|key| (*key, action)));
    }
}

/// Whether two actions cannot share a key.
pub(super) fn clash(one: Action, other: Action) -> bool {
    one.spec().scope == other.spec().scope
}

/// A key as users write it: `Ctrl+Enter`, `PageUp`, `F1`, `Ctrl+_`.
pub fn label(key: KeyPress) -> String {
    let written = key.to_string();
    let mut out = String::with_capacity(written.len());
    for part in written.split_inclusive('+') {
        match part.trim_end_matches('+') {
            "pageup" => out.push_str("PageUp"),
            "pagedown" => out.push_str("PageDown"),
            name => {
                let alone = name.chars().count() == 1 && out.is_empty();
                let mut chars = name.chars();
                if let Some(first) = chars.next() {
                    // A bare letter is the letter typed; beside Ctrl it is printed as on the key.
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
