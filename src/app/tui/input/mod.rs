//! Input from the terminal: bytes in, [`InputEvent`]s out.
//!
//! A thread reads the terminal ([`Input`]), a state machine makes events of the bytes
//! ([`Decoder`]). Nothing here knows what a key does: that is the keymap's business. Nothing here
//! writes to the terminal either: queries are sent by whoever owns the screen, their replies come
//! back as [`TerminalReport`]s and never as typed text.

mod key;

mod event;

mod reader;

mod decoder;

mod csi;

mod keyboard;

mod report;

pub use decoder::{Decoder, Escape};
pub use event::{
    ColorScheme, InputEvent, MouseButton, MouseEvent, MouseKind, TerminalReport, WheelDirection,
};
pub use key::{KeyCode, KeyPress, Mods, ParseKeyError};
pub use reader::Input;
