//! From a key press to an action, and back for the help.

use crate::app::action::{ACTIONS, Action, When};
use crate::app::tui::input::KeyPress;

/// What decides, beside the key, which action is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing runs.
    Idle,
    /// A run is under way, or its processes are still dying.
    Running,
}

/// The keys of every action. Some fifty pairs: looking through them costs less than hashing.
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    pub(super) bindings: Vec<(KeyPress, Action)>,
}

impl Keymap {
    /// The action `press` means in `mode`.
    pub fn resolve(&self, press: KeyPress, mode: Mode) -> Option<Action> {
        self.bindings
            .iter()
            .find(|(key, action)| *key == press && allowed(*action, mode))
            .map(|(_, action)| *action)
    }

    /// The keys of `action`, in the order they were given.
    pub fn keys(&self, action: Action) -> impl Iterator<Item = KeyPress> {
        self.bindings
            .iter()
            .filter(move |(_, bound)| *bound == action)
            .map(|(key, _)| *key)
    }

    /// The first key of `action` as people write it (`Alt+Up`), when it has one.
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

    /// Actions without any key.
    pub fn unbound(&self) -> impl Iterator<Item = Action> {
        ACTIONS
            .iter()
            .map(|spec| spec.action)
            .filter(|action| self.keys(*action).next().is_none())
    }
}

/// Whether two actions can be meant by one key at the same time.
pub(super) fn clash(one: Action, other: Action) -> bool {
    let (one, other) = (one.spec().when, other.spec().when);
    one == other || one == When::Always || other == When::Always
}

fn allowed(action: Action, mode: Mode) -> bool {
    match action.spec().when {
        When::Always => true,
        When::Idle => mode == Mode::Idle,
        When::Running => mode == Mode::Running,
    }
}

/// A key as people write it: `Ctrl+Enter`, `PageUp`, `F1`, `Ctrl+_`.
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
