//! A key press as one small value, written as `ctrl+enter`, `alt+up`, `shift+tab` or `a`.
//!
//! Every press has exactly one form in all protocols, so that keymaps can compare presses for
//! equality. Only [`KeyPress::new`] makes one. It doesn't know which keys do something.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyModifiers};

/// A key with its modifiers, in canonical form.
///
/// A character typed with Shift alone is that character without modifiers (`A`, not `shift+a`).
/// With another modifier, a letter is lower case and keeps Shift (`ctrl+shift+a`); other characters
/// only have their shifted form (`ctrl+_`, not `ctrl+shift+-`). If the terminal doesn't report that
/// form, a US keyboard is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyPress {
    /// The key.
    pub code: KeyCode,
    /// The modifiers held with it.
    pub mods: KeyModifiers,
}

/// Why a string is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown key `{0}` (write keys like `ctrl+enter`, `alt+up`, `shift+tab`, `f1` or `a`)")]
pub struct ParseKeyError(pub String);

impl KeyPress {
    /// A press in canonical form.
    pub fn new(code: KeyCode, mods: KeyModifiers) -> Self {
        let KeyCode::Char(c) = code else {
            return Self { code, mods };
        };
        let shift = mods.contains(KeyModifiers::SHIFT);
        let others = mods.difference(KeyModifiers::SHIFT);
        let (c, mods) = if others == KeyModifiers::NONE {
            (if shift { shifted(c) } else { c }, others)
        } else if c == ' ' {
            (c, mods)
        } else if let Some(lower) = other_case(c, c.to_lowercase()) {
            (lower, others | KeyModifiers::SHIFT)
        } else if shift && upper_of(c).is_none() {
            (shifted(c), others)
        } else {
            (c, mods)
        };
        Self {
            code: KeyCode::Char(c),
            mods,
        }
    }

    /// Whether old terminals send another key for it: Enter with modifiers becomes plain Enter.
    pub fn needs_modern_terminal(&self) -> bool {
        let is_plain = matches!(self.code, KeyCode::Enter | KeyCode::Backspace);
        is_plain
            && self
                .mods
                .intersects(KeyModifiers::SHIFT | KeyModifiers::CONTROL)
    }

    /// A press without modifiers.
    pub fn plain(code: KeyCode) -> Self {
        Self::new(code, KeyModifiers::NONE)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let mods = MOD_NAMES.iter().map(|(name, _)| *name);
        mods.chain(KEY_NAMES.iter().map(|(name, _)| *name))
    }

    /// The character this press types, unless it's a command.
    pub fn text(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.mods == KeyModifiers::NONE => Some(c),
            _ => None,
        }
    }
}

/// Names of modifiers in written order; parsing also accepts the later names.
const MOD_NAMES: [(&str, KeyModifiers); 9] = [
    ("ctrl", KeyModifiers::CONTROL),
    ("alt", KeyModifiers::ALT),
    ("shift", KeyModifiers::SHIFT),
    ("super", KeyModifiers::SUPER),
    ("control", KeyModifiers::CONTROL),
    ("meta", KeyModifiers::ALT),
    ("option", KeyModifiers::ALT),
    ("cmd", KeyModifiers::SUPER),
    ("win", KeyModifiers::SUPER),
];

/// Names of keys; the first name of each is the one to write.
const KEY_NAMES: [(&str, KeyCode); 23] = [
    ("space", KeyCode::Char(' ')),
    ("enter", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("esc", KeyCode::Esc),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("menu", KeyCode::Menu),
    ("plus", KeyCode::Char('+')),
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Esc),
    ("del", KeyCode::Delete),
    ("ins", KeyCode::Insert),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
];

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, modifier) in &MOD_NAMES[..4] {
            if self.mods.contains(*modifier) {
                write!(f, "{name}+")?;
            }
        }
        match (
            self.code,
            KEY_NAMES.iter().find(|(_, code)| *code == self.code),
        ) {
            (KeyCode::F(n), _) => write!(f, "f{n}"),
            // A plus sign is just itself: `ctrl++` parses, and users write it.
            (KeyCode::Char('+'), _) => f.write_str("+"),
            (_, Some((name, _))) => f.write_str(name),
            (KeyCode::Char(c), None) => write!(f, "{c}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for KeyPress {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let error = || ParseKeyError(text.to_owned());
        let (mods, key) = match text.strip_suffix("++") {
            Some(mods) => (Some(mods), "+"),
            None if text == "+" => (None, "+"),
            None => match text.rsplit_once('+') {
                Some((mods, key)) => (Some(mods), key),
                None => (None, text),
            },
        };
        let mut set = KeyModifiers::NONE;
        for name in mods.into_iter().flat_map(|mods| mods.split('+')) {
            let name = name.trim().to_ascii_lowercase();
            let (_, modifier) = MOD_NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .ok_or_else(error)?;
            set |= *modifier;
        }
        Ok(Self::new(parse_code(key.trim()).ok_or_else(error)?, set))
    }
}

fn parse_code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control()).then_some(KeyCode::Char(c));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, code)) = KEY_NAMES.iter().find(|(known, _)| *known == lower) {
        return Some(*code);
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=35).contains(&number).then_some(KeyCode::F(number))
}

/// `c` with Shift: upper case, or the other character on a US keyboard's key.
fn shifted(c: char) -> char {
    const PLAIN: &str = "`1234567890-=[]\\;',./";
    const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
    if let Some(upper) = upper_of(c) {
        return upper;
    }
    match PLAIN.find(c) {
        Some(at) => SHIFTED[at..].chars().next().unwrap_or(c),
        None => c,
    }
}

fn upper_of(c: char) -> Option<char> {
    other_case(c, c.to_uppercase())
}

/// The other case of `c`, if that's a single character.
fn other_case(c: char, mut cased: impl Iterator<Item = char>) -> Option<char> {
    let first = cased.next().filter(|first| *first != c)?;
    cased.next().is_none().then_some(first)
}
