//! Input from the terminal: bytes in, [`InputEvent`]s out.
//!
//! Why not crossterm's event reader: it types the rest of a reply it does not know (`OSC 11`) as
//! keys, cannot hold back a sequence that a slow connection has cut, takes an ESC at the end of a
//! read for the Esc key, and holds a lock while it reads, so that its reading cannot be stopped for
//! an external editor. Its parser is private and cannot be fed.
//!
//! A thread reads the terminal ([`Input`]), a state machine makes events of the bytes
//! ([`Decoder`]). Nothing here knows what a key does: that is the keymap's business. Nothing here
//! writes to the terminal either: queries are sent by whoever owns the screen, their replies come
//! back as [`TerminalReport`]s and never as typed text.

mod reader;
mod decoder;
mod csi;
mod keyboard;
mod sequence;
mod report;

mod event;
mod key;

pub use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
pub use decoder::{Decoder, Escape};
pub use event::{InputEvent, TerminalColor, TerminalName, TerminalReport};
pub use key::{KeyPress, ParseKeyError};
pub use reader::Input;
