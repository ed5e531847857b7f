//! What the emulator leaves out: answers to the program's questions, and a record of the modes it
//! set and must reset.

use std::collections::BTreeSet;

use vte::{Params, Perform};

/// What kind of terminal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// Answers everything and speaks the kitty keyboard protocol.
    Kitty,
    /// The same, but says it's kitty itself and supports pictures.
    KittyGraphics,
    /// Answers everything except the kitty query.
    Xterm,
    /// Like `Xterm`, but late and byte by byte.
    Slow,
    /// Answers nothing.
    Silent,
}

/// Scans the program's output for questions and mode changes.
pub(super) struct Answers {
    pub(super) terminal: Terminal,
    out: Vec<u8>,
    cursor: (u16, u16),
    /// The stack of kitty flags.
    flags: Vec<u16>,
    /// DEC private modes that are on.
    modes: BTreeSet<u16>,
    /// modifyOtherKeys.
    other_keys: u16,
    region: bool,
    /// Colours the program has used, by SGR number.
    colours: BTreeSet<u16>,
}

impl Answers {
    pub fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            out: Vec::new(),
            cursor: (0, 0),
            flags: Vec::new(),
            modes: BTreeSet::new(),
            other_keys: 0,
            region: false,
            colours: BTreeSet::new(),
        }
    }

    /// Tells where the cursor is, in case the program asks.
    pub fn cursor(&mut self, cursor: (u16, u16)) {
        self.cursor = cursor;
    }

    /// The bytes to send back.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// The active kitty flags.
    pub fn flags(&self) -> u16 {
        self.flags.last().copied().unwrap_or(0)
    }

    /// The SGR numbers of all colours so far, except the defaults (39, 49, 59).
    pub fn colours(&self) -> Vec<u16> {
        self.colours.iter().copied().collect()
    }

    /// True while a synchronized update is open.
    pub fn in_frame(&self) -> bool {
        self.modes.contains(&2026)
    }

    pub fn leftovers(&self) -> Vec<String> {
        // 7 (wrap) and 25 (show the cursor) are on in any terminal.
        let modes = self.modes.iter().filter(|mode| ![7, 25].contains(*mode));
        let mut left: Vec<String> = modes.map(|mode| format!("mode ?{mode} is on")).collect();
        if !self.flags.is_empty() {
            left.push(format!("kitty flags {:?}", self.flags));
        }
        if self.other_keys != 0 {
            left.push("modifyOtherKeys is on".to_owned());
        }
        if self.region {
            left.push("a scroll region is set".to_owned());
        }
        left
    }

    /// Scans output before the emulator does, because its parser drops kitty's commands.
    pub fn pass(&mut self, bytes: &[u8]) {
        let query = b"\x1b_Gi=31,s=1,v=1,a=q";
        let has_query = bytes.windows(query.len()).any(|it| it == query);
        if has_query && self.terminal == Terminal::KittyGraphics {
            self.answer("\x1b_Gi=31;OK\x1b\\");
        }
    }

    fn answer(&mut self, text: &str) {
        if self.terminal != Terminal::Silent {
            self.out.extend_from_slice(text.as_bytes());
        }
    }
}

impl Perform for Answers {
    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        let values: Vec<u16> = params
            .iter()
            .map(|it| it.first().copied().unwrap_or(0))
            .collect();
        let first = values.first().copied().unwrap_or(0);
        let kitty = matches!(self.terminal, Terminal::Kitty | Terminal::KittyGraphics);
        match (intermediates, action) {
            (b"?", 'u') if kitty => {
                let answer = format!("\x1b[?{}u", self.flags());
                self.answer(&answer);
            }
            (b">", 'u') if kitty => self.flags.push(first),
            (b"<", 'u') if kitty => {
                for _ in 0..first.max(1) {
                    self.flags.pop();
                }
            }
            (b"=", 'u') if kitty => {
                self.flags.pop();
                self.flags.push(first);
            }
            (b">", 'm') if first == 4 => self.other_keys = values.get(1).copied().unwrap_or(0),
            (b"", 'c') => self.answer("\x1b[?62;22c"),
            (b"", 't') if first == 16 => self.answer("\x1b[6;20;10t"),
            (b">", 'c') => self.answer("\x1b[>41;380;0c"),
            (b">", 'q') if self.terminal == Terminal::KittyGraphics => {
                self.answer("\x1bP>|kitty(0.40.0)\x1b\\");
            }
            (b">", 'q') => self.answer("\x1bP>|tester(1)\x1b\\"),
            (b"?$", 'p') => {
                let answer = format!("\x1b[?{first};2$y");
                self.answer(&answer);
            }
            (b"", 'n') if first == 6 => {
                let (row, column) = self.cursor;
                self.answer(&format!("\x1b[{};{}R", row + 1, column + 1));
            }
            (b"", 'm') => {
                let colour = |value: &u16| matches!(value, 30..=38 | 40..=48 | 58 | 90..=107);
                self.colours.extend(values.iter().copied().filter(colour));
            }
            (b"", 'r') => self.region = !values.iter().all(|value| *value == 0),
            (b"?", 'h') => self.modes.extend(values),
            (b"?", 'l') => self.modes.retain(|mode| !values.contains(mode)),
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        match params {
            [b"10", b"?"] => self.answer("\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"),
            [b"11", b"?"] => self.answer("\x1b]11;rgb:1414/1414/1414\x1b\\"),
            _ => {}
        }
    }
}
