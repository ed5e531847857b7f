//! Turns bytes into events: the state machine that finds the ends of keys, sequences, replies and
//! pastes.
//!
//! It takes bytes in pieces of any size; the events don't depend on how they are cut. It has no
//! clock: the reader asks [`Decoder::timeout`] how long held-back bytes may wait, and calls
//! [`Decoder::expire`] after that. It looks at each byte once, so the cost is linear, even for a
//! paste. It drops what it can't understand, but never the keys after it.
//!
//! [`super::csi`], [`super::keyboard`] and [`super::report`] know what sequences mean.

use std::mem;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use memchr::memmem;

use super::csi::{self, Meaning};
use super::event::InputEvent;
use super::key::KeyPress;
use super::keyboard;
use super::report;
use super::sequence::is_one_number;

/// The most parameter bytes to keep; longer sequences are unknown anyway.
const MAX_CSI: usize = 256;
/// The most bytes of a reply to keep; longer replies are unknown anyway.
const MAX_STRING: usize = 64 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";

/// How long a lone ESC waits before it becomes the Esc key.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);
/// The same if the Esc key has its own sequence: only a fallback for terminals that lost that mode.
const SEQUENCE_ESCAPE_WAIT: Duration = Duration::from_millis(250);
/// The same while replies are expected, which may come in pieces.
const REPLY_WAIT: Duration = Duration::from_millis(500);
/// How long `ESC [` and similar wait before they become Alt and a character.
const INTRODUCER_WAIT: Duration = Duration::from_millis(100);
/// How long an incomplete sequence waits before it's dropped.
const SEQUENCE_WAIT: Duration = Duration::from_secs(1);
/// How long a paste waits for its next byte before it's taken as complete. Long, because the rest
/// of an abandoned paste would be typed, and a line end in it would send the prompt.
const PASTE_WAIT: Duration = Duration::from_secs(5);

/// The meaning of a lone ESC byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// The Esc key or the start of a sequence: time decides.
    #[default]
    Ambiguous,
    /// The same, but a query is open: most likely the start of its reply.
    Reply,
    /// Always the start of a sequence: the terminal confirmed the kitty keyboard protocol.
    Sequence,
}

/// Turns a terminal's bytes into events, however the reads cut them.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// The bytes of the current sequence, without its introducer.
    held: Vec<u8>,
    /// The sequence is too long and will be dropped.
    overlong: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// A multi-byte character, with its modifiers.
    Character(KeyModifiers),
    /// `ESC`.
    Escape(Before),
    /// `ESC O`.
    Ss3(Before),
    /// `ESC [`.
    Csi(Before),
    /// `ESC [ [`: a function key of the Linux console.
    LinuxConsole(Before),
    /// `ESC [ M`: a mouse report in its oldest form, three bytes.
    OldMouse,
    /// ESC and the introducer of a reply, or Alt and that character: the next byte decides.
    StringStart(u8),
    /// Within a reply.
    String(u8),
    /// An ESC within a reply, which ends it or breaks it off.
    StringEscape(u8),
    Paste,
}

/// The input before the ESC of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Another ESC: Alt with a key, or the Esc key right before something else.
    Escape,
}

impl Decoder {
    /// Decodes more bytes, and appends the completed events to `out`.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<InputEvent>) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.state == State::Paste {
                let used = self.feed_paste(bytes, out);
                bytes = &bytes[used..];
            } else {
                self.step(byte, out);
                bytes = rest;
            }
        }
    }

    /// How long to wait for the next byte before calling [`Decoder::expire`]; `None` means forever.
    pub fn timeout(&self, escape: Escape) -> Option<Duration> {
        Some(match self.state {
            // The rest of a character changes nothing, so it may take any time.
            State::Ground | State::Character(_) => return None,
            State::Escape(_) if escape == Escape::Ambiguous => ESCAPE_WAIT,
            State::Escape(_) if escape == Escape::Reply => REPLY_WAIT,
            State::Escape(_) => SEQUENCE_ESCAPE_WAIT,
            State::StringStart(_) if escape == Escape::Reply => REPLY_WAIT,
            State::Csi(_) if escape == Escape::Reply && self.held.is_empty() => REPLY_WAIT,
            State::Ss3(_) | State::StringStart(_) => INTRODUCER_WAIT,
            State::Csi(_) if self.held.is_empty() => INTRODUCER_WAIT,
            State::Csi(_) | State::LinuxConsole(_) | State::OldMouse => SEQUENCE_WAIT,
            State::String(_) | State::StringEscape(_) => SEQUENCE_WAIT,
            State::Paste => PASTE_WAIT,
        })
    }

    /// Whether a paste has begun and not ended.
    pub fn is_in_paste(&self) -> bool {
        self.state == State::Paste
    }

    /// No byte came in time: decides what the held-back bytes are.
    pub fn expire(&mut self, out: &mut Vec<InputEvent>) {
        match self.state {
            State::Escape(before) => {
                before.push(out);
                push_key(KeyPress::plain(KeyCode::Esc), out);
            }
            State::Paste => self.finish_paste(out),
            _ => self.break_off(out),
        }
        self.begin(State::Ground);
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.held.clear();
        self.overlong = false;
    }

    fn hold(&mut self, byte: u8, limit: usize) {
        if self.held.len() < limit {
            self.held.push(byte);
        } else {
            self.overlong = true;
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<InputEvent>) {
        match self.state {
            State::Ground | State::Paste => self.ground(byte, KeyModifiers::NONE, out),
            State::Character(mods) => self.character(byte, mods, out),
            State::Escape(before) => self.escape(byte, before, out),
            State::Ss3(before) => self.ss3(byte, before, out),
            State::Csi(before) => self.csi(byte, before, out),
            State::LinuxConsole(before) => {
                self.begin(State::Ground);
                match byte {
                    b'A'..=b'E' => before.press(KeyPress::plain(KeyCode::F(byte - b'A' + 1)), out),
                    _ => self.step(byte, out),
                }
            }
            State::OldMouse => self.old_mouse(byte, out),
            State::StringStart(introducer) if report::may_start_with(introducer, byte) => {
                self.state = State::String(introducer);
                self.hold(byte, MAX_STRING);
            }
            State::StringStart(_) => self.start_over(byte, out),
            State::String(introducer) => self.string(byte, introducer, out),
            State::StringEscape(introducer) if byte == b'\\' => {
                self.finish_string(introducer, out);
            }
            State::StringEscape(_) => {
                self.begin(State::Escape(Before::Nothing));
                self.step(byte, out);
            }
        }
    }

    fn ground(&mut self, byte: u8, mods: KeyModifiers, out: &mut Vec<InputEvent>) {
        self.begin(State::Ground);
        match byte {
            0x1b => self.state = State::Escape(Before::Nothing),
            0..0x80 => push_key(keyboard::from_ascii(byte, mods), out),
            0xc2..=0xf4 => {
                self.state = State::Character(mods);
                self.held.push(byte);
            }
            // Not UTF-8.
            _ => {}
        }
    }

    fn character(&mut self, byte: u8, mods: KeyModifiers, out: &mut Vec<InputEvent>) {
        if !(0x80..0xc0).contains(&byte) {
            return self.ground(byte, KeyModifiers::NONE, out);
        }
        self.held.push(byte);
        let length = match self.held[0] {
            ..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        };
        if self.held.len() < length {
            return;
        }
        if let Ok(text) = str::from_utf8(&self.held) {
            for c in text.chars().filter(|c| !c.is_control()) {
                push_key(KeyPress::new(KeyCode::Char(c), mods), out);
            }
        }
        self.begin(State::Ground);
    }

    fn escape(&mut self, byte: u8, before: Before, out: &mut Vec<InputEvent>) {
        match byte {
            0x1b => {
                before.push(out);
                self.state = State::Escape(Before::Escape);
            }
            b'[' => self.state = State::Csi(before),
            b'O' => self.state = State::Ss3(before),
            0..0x80 => {
                before.push(out);
                // Terminals use only these three strings in replies.
                if matches!(byte, b']' | b'P' | b'_') {
                    self.state = State::StringStart(byte);
                } else {
                    self.ground(byte, KeyModifiers::ALT, out);
                }
            }
            0xc2..=0xf4 => {
                before.push(out);
                self.ground(byte, KeyModifiers::ALT, out);
            }
            _ => {
                before.push(out);
                push_key(KeyPress::plain(KeyCode::Esc), out);
                self.begin(State::Ground);
            }
        }
    }

    fn ss3(&mut self, byte: u8, before: Before, out: &mut Vec<InputEvent>) {
        // Some terminals put the modifiers before the final byte: `ESC O 5 P`.
        if byte.is_ascii_digit() && self.held.is_empty() {
            return self.held.push(byte);
        }
        let Some(press) = keyboard::from_ss3(byte) else {
            return self.start_over(byte, out);
        };
        let mods = self.held.first().map_or(KeyModifiers::NONE, |digit| {
            keyboard::mods_from_parameter(u32::from(digit - b'0'))
        });
        before.press(KeyPress::new(press.code, press.mods | mods), out);
        self.begin(State::Ground);
    }

    fn csi(&mut self, byte: u8, before: Before, out: &mut Vec<InputEvent>) {
        match byte {
            b'[' if self.held.is_empty() => self.state = State::LinuxConsole(before),
            b'M' if self.held.is_empty() => {
                before.push(out);
                self.state = State::OldMouse;
            }
            // rxvt ends Shift+key with `$`, which normally can't end a sequence.
            b'$' if is_one_number(&self.held) => self.finish_csi(byte, before, out),
            0x20..=0x3f => self.hold(byte, MAX_CSI),
            0x40..=0x7e => self.finish_csi(byte, before, out),
            _ => self.start_over(byte, out),
        }
    }

    fn finish_csi(&mut self, last: u8, before: Before, out: &mut Vec<InputEvent>) {
        let known = !self.overlong;
        let meaning = known.then(|| csi::meaning(&self.held, last)).flatten();
        self.begin(State::Ground);
        if let Some(Meaning::Key(press)) = meaning {
            return before.press(press, out);
        }
        before.push(out);
        match meaning {
            Some(Meaning::Event(event)) => out.push(event),
            Some(Meaning::PasteStart) => self.state = State::Paste,
            Some(Meaning::Key(_)) | None => {}
        }
    }

    fn old_mouse(&mut self, byte: u8, out: &mut Vec<InputEvent>) {
        if byte < 0x20 {
            return self.start_over(byte, out);
        }
        self.held.push(byte);
        if let [button, col, row] = self.held[..] {
            let [button, col, row] = [button, col, row].map(|byte| u32::from(byte) - 0x20);
            out.extend(csi::old_mouse(button, col, row));
            self.begin(State::Ground);
        }
    }

    fn string(&mut self, byte: u8, introducer: u8, out: &mut Vec<InputEvent>) {
        match byte {
            0x07 => self.finish_string(introducer, out),
            0x1b => self.state = State::StringEscape(introducer),
            // Replies have no control characters: the terminal broke off, and this is a key.
            0..0x20 | 0x7f => self.start_over(byte, out),
            _ => self.hold(byte, MAX_STRING),
        }
    }

    fn finish_string(&mut self, introducer: u8, out: &mut Vec<InputEvent>) {
        if !self.overlong {
            out.extend(report::from_string(introducer, &self.held).map(InputEvent::Report));
        }
        self.begin(State::Ground);
    }

    /// Abandons the current sequence because `byte` can't continue it, and starts over with `byte`.
    fn start_over(&mut self, byte: u8, out: &mut Vec<InputEvent>) {
        self.break_off(out);
        self.ground(byte, KeyModifiers::NONE, out);
    }

    /// Abandons the current sequence: it was Alt and a character, or it's dropped.
    fn break_off(&mut self, out: &mut Vec<InputEvent>) {
        let alt = |c| KeyPress::new(KeyCode::Char(c), KeyModifiers::ALT);
        match self.state {
            State::Ss3(before) => {
                before.push(out);
                push_key(alt('O'), out);
                if let Some(digit) = self.held.first() {
                    push_key(KeyPress::plain(KeyCode::Char(char::from(*digit))), out);
                }
            }
            State::Csi(before) => {
                before.push(out);
                if self.held.is_empty() {
                    push_key(alt('['), out);
                }
            }
            State::StringStart(introducer) => push_key(alt(char::from(introducer)), out),
            _ => {}
        }
    }

    /// Takes bytes of a paste up to its end; returns how many it used.
    fn feed_paste(&mut self, bytes: &[u8], out: &mut Vec<InputEvent>) -> usize {
        // The end marker may have started in earlier bytes.
        let tail = &self.held[self.held.len().saturating_sub(PASTE_END.len() - 1)..];
        let head = &bytes[..bytes.len().min(PASTE_END.len() - 1)];
        let seam = [tail, head].concat();
        if let Some(at) = memmem::find(&seam, PASTE_END) {
            let used = at + PASTE_END.len() - tail.len();
            self.held.truncate(self.held.len() - tail.len() + at);
            self.finish_paste(out);
            return used;
        }
        if let Some(at) = memmem::find(bytes, PASTE_END) {
            self.held.extend_from_slice(&bytes[..at]);
            self.finish_paste(out);
            return at + PASTE_END.len();
        }
        self.held.extend_from_slice(bytes);
        bytes.len()
    }

    fn finish_paste(&mut self, out: &mut Vec<InputEvent>) {
        let bytes = mem::take(&mut self.held);
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        out.push(InputEvent::Paste(text));
        self.begin(State::Ground);
    }
}

impl Before {
    /// The Esc key, if an ESC isn't part of a key.
    fn push(self, out: &mut Vec<InputEvent>) {
        if self == Self::Escape {
            push_key(KeyPress::plain(KeyCode::Esc), out);
        }
    }

    /// A key, with Alt if there was an ESC.
    fn press(self, press: KeyPress, out: &mut Vec<InputEvent>) {
        let alt = match self {
            Self::Nothing => KeyModifiers::NONE,
            Self::Escape => KeyModifiers::ALT,
        };
        push_key(KeyPress::new(press.code, press.mods | alt), out);
    }
}

fn push_key(press: KeyPress, out: &mut Vec<InputEvent>) {
    out.push(InputEvent::Key(press));
}
