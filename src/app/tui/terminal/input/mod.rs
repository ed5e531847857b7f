//! Terminal input: bytes in, [`InputEvent`]s out.
//!
//! Why not crossterm's event reader? It types the rest of an unknown reply (`OSC 11`) as keys, and
//! can't wait for a sequence that a slow connection has cut. It takes an ESC at the end of a read
//! for the Esc key. It holds a lock while reading, so that it can't be paused for an external
//! editor. Its parser is private.
//!
//! A thread reads the terminal ([`Input`]), and a state machine turns bytes into events
//! ([`Decoder`]). Nothing here knows what a key does: that's the keymap's job. Nothing here writes
//! to the terminal either: the owner of the screen sends queries, and replies come back as
//! [`TerminalReport`]s, never as typed text.

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
