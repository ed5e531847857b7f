//! Cleans program output. The result contains no control characters but line feeds and tabs, however the
//! bytes were split.
//!
//! Escape sequences are removed (`vte` parses them). A line that a program overwrites with carriage
//! returns keeps its last state. Other control characters are shown (`^G`, `\x85`), broken UTF-8 becomes
//! U+FFFD, and one line with the size replaces binary data. It doesn't emulate a terminal: cursor
//! movement across lines is ignored.

use std::fmt::Write;

use vte::{Params, Parser, Perform};

/// Characters of an unfinished line that a carriage return can still overwrite.
pub(super) const LINE_LIMIT: usize = 16 * 1024;
/// Bytes classified together as text or data: a line, or this much of one.
const PIECE_LIMIT: usize = 4 * 1024;
/// Clean bytes after which binary data is considered over. Any data has a few clean bytes.
const TEXT_AGAIN: usize = 256;
/// Bytes after which an escape sequence is considered broken. Some contain pictures.
const SEQUENCE_LIMIT: usize = 64 * 1024;
/// The string terminator: ends any sequence, and does nothing outside one.
const END_SEQUENCE: &[u8] = b"\x1b\\";

/// Cleans a stream piece by piece. How it is split doesn't change the result.
#[derive(Default)]
pub struct Cleaner {
    /// Bytes of an unfinished line.
    piece: Vec<u8>,
    mode: Mode,
    parser: Parser,
    /// Bytes parsed since the parser was last known to be outside a sequence.
    parsed: usize,
    line: Line,
    hidden: u64,
}

#[derive(Clone, Default)]
enum Mode {
    #[default]
    Text,
    Data {
        /// Bytes of this run of data that aren't shown.
        count: u64,
        /// Clean lines that may be text again.
        held: Vec<u8>,
    },
}

impl Cleaner {
    /// Takes `bytes` and appends everything final to `out`: usually finished lines.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut String) {
        while !bytes.is_empty() {
            if self.at_line_start() {
                let plain = plain_lines(bytes);
                if plain > 0 {
                    out.push_str(&String::from_utf8_lossy(&bytes[..plain]));
                    bytes = &bytes[plain..];
                    continue;
                }
            }
            let room = PIECE_LIMIT - self.piece.len();
            let within = &bytes[..bytes.len().min(room)];
            let (taken, complete) = match memchr::memchr2(b'\n', b'\r', within) {
                Some(end) => (end + 1, true),
                None => (within.len(), within.len() == room),
            };
            self.piece.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if complete {
                let mut piece = std::mem::take(&mut self.piece);
                let whole = piece.len() - unfinished(&piece);
                self.judge(&piece[..whole], out);
                // Keeps the allocation: there is one piece per line.
                piece.drain(..whole);
                self.piece = piece;
            }
        }
    }

    /// Appends what is still held back.
    pub fn finish(&mut self, out: &mut String) {
        let rest = std::mem::take(&mut self.piece);
        self.judge(&rest, out);
        self.end_data(out);
        self.end_sequence(out);
        self.line.hand_out(out);
    }

    /// The unfinished line so far. Ignores a sequence begun in an earlier piece of the line.
    pub fn pending(&self) -> String {
        let mut out = String::new();
        let mut copy = Self {
            piece: self.piece.clone(),
            mode: self.mode.clone(),
            line: self.line.clone(),
            ..Self::default()
        };
        if self.line.in_block {
            copy.piece.clear();
        }
        copy.finish(&mut out);
        out
    }

    /// Bytes of memory for the unfinished line.
    #[cfg(test)]
    pub(super) fn line_capacity(&self) -> usize {
        self.line.text.capacity()
    }

    /// Bytes of data that one line replaced.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }

    fn at_line_start(&self) -> bool {
        self.piece.is_empty()
            && self.parsed == 0
            && self.line.is_new()
            && matches!(self.mode, Mode::Text)
    }

    /// Passes `piece` on as text or as data.
    fn judge(&mut self, piece: &[u8], out: &mut String) {
        if piece.is_empty() {
            return;
        }
        let odd = odd_bytes(piece);
        match &mut self.mode {
            Mode::Text if odd * 10 > piece.len() * 3 => {
                self.begin_data(out);
                self.hide(piece.len());
            }
            Mode::Text => self.text(piece, out),
            Mode::Data { held, .. } if odd == 0 => {
                held.extend_from_slice(piece);
                if held.len() >= TEXT_AGAIN {
                    self.end_data(out);
                }
            }
            Mode::Data { held, .. } => {
                let more = std::mem::take(held).len() + piece.len();
                self.hide(more);
            }
        }
    }

    fn begin_data(&mut self, out: &mut String) {
        self.end_sequence(out);
        self.line.returned = false;
        if !self.line.is_new() {
            self.line.end(out);
        }
        self.mode = Mode::Data {
            count: 0,
            held: Vec::new(),
        };
    }

    fn hide(&mut self, bytes: usize) {
        self.hidden += bytes as u64;
        if let Mode::Data { count, .. } = &mut self.mode {
            *count += bytes as u64;
        }
    }

    /// Names the data and continues with the text after it.
    fn end_data(&mut self, out: &mut String) {
        if let Mode::Data { count, held } = std::mem::take(&mut self.mode) {
            // Infallible: it is a String.
            let _ = writeln!(out, "[binary data, {count} bytes not shown]");
            self.text(&held, out);
        }
    }

    /// Parses whole characters. A sequence that doesn't end is broken, and so is one that doesn't
    /// end on its line (titles, links, colours; pictures may span lines).
    fn text(&mut self, bytes: &[u8], out: &mut String) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let complete = line.ends_with(b"\n");
            let (line, end) = line.split_at(line.len() - usize::from(complete));
            self.parse(line, out);
            if complete && !self.line.in_block || self.parsed > SEQUENCE_LIMIT {
                self.end_sequence(out);
            }
            self.parse(end, out);
            if complete && !self.line.in_block {
                self.parsed = 0;
            }
        }
    }

    fn end_sequence(&mut self, out: &mut String) {
        self.parse(END_SEQUENCE, out);
        self.parsed = 0;
    }

    fn parse(&mut self, bytes: &[u8], out: &mut String) {
        self.parsed += bytes.len();
        let line = &mut self.line;
        self.parser.advance(&mut Writer { line, out }, bytes);
    }
}

/// The unfinished line.
#[derive(Clone, Default)]
struct Line {
    text: String,
    /// A carriage return came: the next character starts the line again.
    returned: bool,
    /// Part of the line was already emitted and can't change.
    overflowed: bool,
    /// Inside a device control string, the only sequence that may span lines.
    in_block: bool,
}

/// Applies what the parser finds to the line.
struct Writer<'a> {
    line: &'a mut Line,
    out: &'a mut String,
}

impl Perform for Writer<'_> {
    fn print(&mut self, c: char) {
        match c {
            '\u{7f}' => self.show("^?"),
            _ => self.line.put(c, self.out),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line.end(self.out),
            b'\r' => self.line.returned = true,
            b'\t' => self.line.put('\t', self.out),
            0..0x20 => self.show(&format!("^{}", char::from(byte + b'@'))),
            _ => self.show(&format!("\\x{byte:02x}")),
        }
    }

    /// The two kinds of control sequence that programs redraw a line with.
    fn csi_dispatch(&mut self, params: &Params, private: &[u8], _: bool, action: char) {
        if !private.is_empty() {
            return;
        }
        match (action, params.iter().flatten().next().unwrap_or(&0)) {
            ('K', 2) => self.line.erase(self.out),
            ('K', 0) if self.line.returned => self.line.erase(self.out),
            ('G', 0 | 1) => self.line.returned = true,
            _ => {}
        }
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, _: char) {
        self.line.in_block = true;
    }

    fn unhook(&mut self) {
        self.line.in_block = false;
    }
}

impl Writer<'_> {
    fn show(&mut self, text: &str) {
        for c in text.chars() {
            self.line.put(c, self.out);
        }
    }
}

impl Line {
    fn is_new(&self) -> bool {
        self.text.is_empty() && !self.returned && !self.overflowed
    }

    fn put(&mut self, c: char, out: &mut String) {
        if self.returned {
            self.returned = false;
            self.erase(out);
        }
        self.text.push(c);
        if self.text.len() >= LINE_LIMIT {
            self.hand_out(out);
            self.overflowed = true;
        }
    }

    fn erase(&mut self, out: &mut String) {
        if self.overflowed {
            self.overflowed = false;
            self.hand_out(out);
            out.push('\n');
        }
        self.text.clear();
    }

    fn end(&mut self, out: &mut String) {
        self.hand_out(out);
        out.push('\n');
        self.returned = false;
        self.overflowed = false;
    }

    fn hand_out(&mut self, out: &mut String) {
        out.push_str(&self.text);
        self.text.clear();
    }
}

/// How many bytes at the end of `bytes` are an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    let begins = |count: &usize| {
        let tail = &bytes[bytes.len() - count..];
        let error = std::str::from_utf8(tail).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).find(begins).unwrap_or(0)
}

/// How many leading bytes are whole lines of printable ASCII and tabs: the common case, made fast.
fn plain_lines(bytes: &[u8]) -> usize {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // In blocks, so that the compiler can vectorize the check.
    let mut end = 0;
    for block in bytes.chunks(64) {
        if !block.iter().fold(true, |all, byte| all & plain(*byte)) {
            end += block.iter().take_while(|byte| plain(**byte)).count();
            break;
        }
        end += block.len();
    }
    memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |last| last + 1)
}

/// Bytes that text doesn't contain: control characters that text doesn't use, and broken UTF-8.
fn odd_bytes(piece: &[u8]) -> usize {
    piece
        .utf8_chunks()
        .map(|chunk| {
            let control = |byte: &u8| match *byte {
                0x07..=0x0d | 0x1b => false,
                byte => byte < 0x20 || byte == 0x7f,
            };
            chunk.valid().bytes().filter(control).count() + chunk.invalid().len()
        })
        .sum()
}
