//! How a user who looks elsewhere is called: only when something is asked, and only where the terminal
//! says that it lost the focus.

use super::from_word::from_word;

/// How the user is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// By the bell of the terminal.
    #[default]
    Bell,
    /// By the bell and a notification of the desktop, where the terminal makes some.
    Desktop,
    /// Not at all.
    Off,
}

impl Notify {
    /// What is written to the terminal to say `text`, which holds no control characters; empty where
    /// nothing is.
    pub fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Off => Vec::new(),
            Self::Bell => vec![7],
            // OSC 9, which terminals without notifications pass over.
            Self::Desktop => format!("\x1b]9;{text}\x1b\\\x07").into_bytes(),
        }
    }
}

from_word!(Notify { "bell" => Bell, "desktop" => Desktop, "off" => Off });
