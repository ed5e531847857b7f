//! Bytes to events: the state machine that finds where keys, sequences, replies and pastes end.
//!
//! It takes bytes in pieces of any size and gives the same events for every way of cutting them.
//! It has no clock: whoever reads asks [`Decoder::timeout`] how long the bytes held back may wait
//! for more, and calls [`Decoder::expire`] when that has passed. Each byte is looked at once, so
//! the cost is linear, also for a paste. What cannot be understood is dropped up to where it ends
//! or breaks off, never the keys behind it.
//!
//! What a sequence means is in [`super::csi`], [`super::keyboard`] and [`super::report`].

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

/// Parameter bytes of one sequence that are kept; a longer sequence means nothing to us.
const MAX_CSI: usize = 256;
/// Bytes of one reply that are kept; a longer reply means nothing to us.
const MAX_STRING: usize = 64 * 1024;
/// What ends a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// How long a lone ESC waits before it is the Esc key.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);
/// The same once the Esc key has a sequence of its own, which is only a net for a terminal that forgot
/// it.
const SEQUENCE_ESCAPE_WAIT: Duration = Duration::from_millis(250);
/// The same while replies are expected, which may come in pieces.
const REPLY_WAIT: Duration = Duration::from_millis(500);
/// How long `ESC [` and its like wait before they are Alt and a character.
const INTRODUCER_WAIT: Duration = Duration::from_millis(100);
/// How long a sequence that has begun waits for its end before it is dropped.
const SEQUENCE_WAIT: Duration = Duration::from_secs(1);
/// How long a paste waits for its next byte before it is taken as it is. Long: what comes after a
/// paste was given up is typed, and a line end in it would send the prompt.
const PASTE_WAIT: Duration = Duration::from_secs(5);

/// What a lone ESC byte means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// The Esc key or the start of a sequence: time decides.
    #[default]
    Ambiguous,
    /// The same, but the terminal was asked something: most likely the start of its reply.
    Reply,
    /// Always the start of a sequence: the terminal confirmed the kitty keyboard protocol.
    Sequence,
}

/// Makes events of the bytes of a terminal, however they are cut into reads.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// The bytes of what has begun, without its introducer.
    held: Vec<u8>,
    /// More bytes came than are kept: what has begun will be dropped.
    overlong: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// A character of several bytes, with its modifiers.
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
    /// ESC and the byte that introduces a reply, or Alt and that character: the next byte decides.
    StringStart(u8),
    /// A reply in its text.
    String(u8),
    /// A reply with an ESC in it, which ends or breaks it.
    StringEscape(u8),
    Paste,
}

/// What came before the ESC of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Another ESC: Alt with a key that has a sequence, or the Esc key just before something else.
    Escape,
}

impl Decoder {
    /// Takes the next bytes; the events they complete are appended to `out`.
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

    /// How long to wait for the next byte before [`Decoder::expire`]; `None`: for ever.
    pub fn timeout(&self, escape: Escape) -> Option<Duration> {
        Some(match self.state {
            // The rest of a character decides nothing, so it may come whenever it likes.
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

    /// Nothing more came in time, or nothing will: decides what the bytes held back are.
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
                // Terminals reply with these three strings only.
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
            // rxvt ends Shift with a key in `$`, which elsewhere may not end a sequence.
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
            // A reply holds no control characters: the terminal broke off and this is a key.
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

    /// Gives up what has begun, because `byte` cannot go on with it, and begins with `byte`.
    fn start_over(&mut self, byte: u8, out: &mut Vec<InputEvent>) {
        self.break_off(out);
        self.ground(byte, KeyModifiers::NONE, out);
    }

    /// Gives up what has begun: it was Alt and a character, or it is dropped.
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

    /// Takes bytes of a paste up to its end; tells how many were used.
    fn feed_paste(&mut self, bytes: &[u8], out: &mut Vec<InputEvent>) -> usize {
        // An end that began in earlier bytes: the last 5 of those with the first 5 of these.
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
    /// The Esc key, if there was an ESC and what follows it is no key.
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
