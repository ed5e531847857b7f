//! Bytes to events.

use std::time::Duration;

use super::event::InputEvent;
use super::key::{KeyCode, KeyPress};

/// What a lone ESC byte means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// The Esc key or the start of a sequence: time decides.
    #[default]
    Ambiguous,
    /// Always the start of a sequence: the terminal confirmed the kitty keyboard protocol.
    Sequence,
}

/// Makes events of the bytes of a terminal, however they are cut into reads.
#[derive(Debug, Default)]
pub struct Decoder {
    text: Vec<u8>,
}

impl Decoder {
    /// Takes the next bytes; events are appended to `out`.
    pub fn feed(&mut self, bytes: &[u8], _escape: Escape, out: &mut Vec<InputEvent>) {
        self.text.extend_from_slice(bytes);
        if let Ok(text) = std::str::from_utf8(&self.text) {
            out.extend(
                text.chars()
                    .map(|c| InputEvent::Key(KeyPress::plain(KeyCode::Char(c)))),
            );
            self.text.clear();
        }
    }

    /// How long to wait for the next byte before [`Decoder::expire`]; `None`: forever.
    pub fn patience(&self, _escape: Escape) -> Option<Duration> {
        None
    }

    /// Nothing more came in time: decides what the bytes held back are.
    pub fn expire(&mut self, _out: &mut Vec<InputEvent>) {}
}
