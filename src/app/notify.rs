//! Alerts the user when tiller asks something while the terminal has lost focus.

use super::from_word::from_word;

/// How to alert the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Ring the terminal bell.
    #[default]
    Bell,
    /// Ring the bell and show a desktop notification, if the terminal supports it.
    Desktop,
    /// Don't.
    Off,
}

impl Notify {
    /// The bytes that make the terminal show `text`, which must not contain control characters;
    /// empty if nothing should happen.
    pub fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Off => Vec::new(),
            Self::Bell => vec![7],
            // OSC 9; terminals without notifications ignore it.
            Self::Desktop => format!("\x1b]9;{text}\x1b\\\x07").into_bytes(),
        }
    }
}

from_word!(Notify { "bell" => Bell, "desktop" => Desktop, "off" => Off });
