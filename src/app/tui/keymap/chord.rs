//! Chords: keys pressed in sequence, as in `ctrl+k ctrl+s`. Most have a single key.

use std::fmt;
use std::str::FromStr;

use crate::app::tui::terminal::input::{KeyPress, ParseKeyError};

/// One or more keys in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chord(Vec<KeyPress>);

impl Chord {
    /// Its keys.
    pub fn keys(&self) -> &[KeyPress] {
        &self.0
    }

    /// Whether old terminals can't tell one of its keys from another key.
    pub fn needs_modern_terminal(&self) -> bool {
        self.0.iter().any(KeyPress::needs_modern_terminal)
    }

    /// Whether one of the two is the start of the other, so that only one can work.
    pub(super) fn hides(&self, other: &Self) -> bool {
        let both = self.0.len().min(other.0.len());
        self.0[..both] == other.0[..both]
    }
}

impl From<KeyPress> for Chord {
    fn from(key: KeyPress) -> Self {
        Self(vec![key])
    }
}

impl FromStr for Chord {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let keys: Result<Vec<KeyPress>, _> = text.split_whitespace().map(str::parse).collect();
        match keys {
            Ok(keys) if !keys.is_empty() => Ok(Self(keys)),
            _ => Err(ParseKeyError(text.to_owned())),
        }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            write!(f, "{space}{key}")?;
        }
        Ok(())
    }
}
