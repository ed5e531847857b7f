//! Cleans the output of programs: what comes out holds no control character but line feed and
//! tab, however the bytes were cut on the way.
//!
//! Escape sequences vanish; a line that a program wrote over and over (carriage return) keeps its
//! last state; other control characters are shown (`^G`, `\x85`); broken UTF-8 becomes U+FFFD;
//! data that is no text is replaced by one line that says how much there was. It emulates no
//! terminal: cursor movement over several lines is ignored.

use std::fmt::Write;

/// Characters of an unfinished line that can still be taken back by a carriage return.
pub(super) const LINE_LIMIT: usize = 16 * 1024;
/// Bytes that are judged together as text or data: a line, or this much of one.
const PIECE_LIMIT: usize = 4 * 1024;
/// Clean bytes after which data is believed to be over. A few clean bytes happen in any data.
const TEXT_AGAIN: usize = 256;
/// Characters of a sequence after which it is taken for broken.
const CSI_LIMIT: usize = 256;
/// The same for strings; pictures come in some of them.
const STRING_LIMIT: usize = 64 * 1024;

/// Cleans a stream piece by piece. The cuts do not change what comes out.
#[derive(Clone, Debug, Default)]
pub struct Cleaner {
    /// Bytes of a line not complete yet.
    piece: Vec<u8>,
    /// The start of a character whose rest is in the next piece.
    carry: Vec<u8>,
    mode: Mode,
    sequence: Sequence,
    line: Line,
    hidden: u64,
}

#[derive(Clone, Debug, Default)]
enum Mode {
    #[default]
    Text,
    Data {
        /// Bytes of this stretch not shown.
        count: u64,
        /// Clean lines that may be text again.
        held: Vec<u8>,
    },
}

#[derive(Clone, Debug, Default)]
enum Sequence {
    #[default]
    None,
    Escape,
    /// `ESC` and an intermediate: one more final character ends it.
    Short,
    /// `ESC [`, with its parameters so far.
    Csi(String),
    String {
        kind: StringKind,
        length: usize,
    },
    /// `ESC` within a string: its end, or the next sequence.
    StringEscape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringKind {
    /// Titles, links, marks: never longer than a line.
    Line,
    /// Device control: pictures, with line ends in them.
    Block,
}

/// The unfinished line.
#[derive(Clone, Debug, Default)]
struct Line {
    text: String,
    /// A carriage return came: the next character starts the line anew.
    returned: bool,
    /// Part of the line was handed out already and cannot be taken back.
    overflowed: bool,
}

impl Cleaner {
    /// Takes `bytes` and appends what is certain now to `out`: finished lines, as a rule.
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
                self.close_piece(out);
            }
        }
    }

    /// Appends what is still held back. The cleaner is as new afterwards.
    pub fn finish(&mut self, out: &mut String) {
        self.close_piece(out);
        self.end_data(out);
        if !self.carry.is_empty() {
            self.carry.clear();
            self.character(char::REPLACEMENT_CHARACTER, out);
        }
        self.line.hand_out(out);
        *self = Self {
            hidden: self.hidden,
            ..Self::default()
        };
    }

    /// What [`finish`](Self::finish) would append now: the line that is being written.
    pub fn pending(&self) -> String {
        let mut out = String::new();
        self.clone().finish(&mut out);
        out
    }

    /// Bytes of data that were replaced by a line that says so.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }

    fn at_line_start(&self) -> bool {
        self.piece.is_empty()
            && self.carry.is_empty()
            && self.line.is_new()
            && matches!(self.mode, Mode::Text)
            && matches!(self.sequence, Sequence::None)
    }

    /// Judges the piece and passes it on.
    fn close_piece(&mut self, out: &mut String) {
        if self.piece.is_empty() {
            return;
        }
        let mut piece = std::mem::take(&mut self.piece);
        let odd = odd_bytes(&piece);
        match &mut self.mode {
            Mode::Text if odd * 10 > piece.len() * 3 => {
                self.begin_data(out);
                self.hide(piece.len());
            }
            Mode::Text => self.text(&piece, out),
            Mode::Data { held, .. } if odd == 0 => {
                held.extend_from_slice(&piece);
                if held.len() >= TEXT_AGAIN {
                    self.end_data(out);
                }
            }
            Mode::Data { held, .. } => {
                let more = std::mem::take(held).len() + piece.len();
                self.hide(more);
            }
        }
        // Keep the allocation: there is a piece per line.
        piece.clear();
        self.piece = piece;
    }

    fn begin_data(&mut self, out: &mut String) {
        self.sequence = Sequence::None;
        self.line.returned = false;
        if !self.line.is_new() {
            self.line.end(out);
        }
        let carried = std::mem::take(&mut self.carry).len();
        self.mode = Mode::Data {
            count: 0,
            held: Vec::new(),
        };
        self.hide(carried);
    }

    fn hide(&mut self, bytes: usize) {
        self.hidden += bytes as u64;
        if let Mode::Data { count, .. } = &mut self.mode {
            *count += bytes as u64;
        }
    }

    /// Names the data and goes on with the text behind it.
    fn end_data(&mut self, out: &mut String) {
        if let Mode::Data { count, held } = std::mem::take(&mut self.mode) {
            // Infallible: it is a String.
            let _ = writeln!(out, "[binary data, {count} bytes not shown]");
            self.text(&held, out);
        }
    }

    fn text(&mut self, bytes: &[u8], out: &mut String) {
        let joined;
        let bytes = if self.carry.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.carry), bytes.to_vec()].concat();
            &joined
        };
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for character in chunk.valid().chars() {
                self.character(character, out);
            }
            let broken = chunk.invalid();
            if broken.is_empty() {
                continue;
            }
            let unfinished =
                || std::str::from_utf8(broken).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && unfinished() {
                self.carry = broken.to_vec();
            } else {
                self.character(char::REPLACEMENT_CHARACTER, out);
            }
        }
    }

    fn character(&mut self, c: char, out: &mut String) {
        match std::mem::take(&mut self.sequence) {
            Sequence::None => self.plain(c, out),
            Sequence::Escape => match c {
                '[' => self.sequence = Sequence::Csi(String::new()),
                ']' | 'X' | '^' | '_' => self.begin_string(StringKind::Line),
                'P' => self.begin_string(StringKind::Block),
                ' '..='/' => self.sequence = Sequence::Short,
                '0'..='~' => {}
                _ => self.plain(c, out),
            },
            Sequence::Short => match c {
                ' '..='/' => self.sequence = Sequence::Short,
                '0'..='~' => {}
                _ => self.plain(c, out),
            },
            Sequence::Csi(mut parameters) => match c {
                ' '..='?' if parameters.len() < CSI_LIMIT => {
                    parameters.push(c);
                    self.sequence = Sequence::Csi(parameters);
                }
                '@'..='~' => self.line.control(&parameters, c, out),
                _ => self.plain(c, out),
            },
            Sequence::String { kind, length } => match c {
                '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => {}
                '\u{1b}' => self.sequence = Sequence::StringEscape,
                '\n' if kind == StringKind::Line => self.plain(c, out),
                _ if length >= STRING_LIMIT => self.plain(c, out),
                _ => {
                    let length = length + 1;
                    self.sequence = Sequence::String { kind, length };
                }
            },
            Sequence::StringEscape => {
                if c != '\\' {
                    self.sequence = Sequence::Escape;
                    self.character(c, out);
                }
            }
        }
    }

    fn begin_string(&mut self, kind: StringKind) {
        self.sequence = Sequence::String { kind, length: 0 };
    }

    /// A character outside of sequences, or one that begins a sequence.
    fn plain(&mut self, c: char, out: &mut String) {
        match c {
            '\n' => self.line.end(out),
            '\r' => self.line.returned = true,
            '\u{1b}' => self.sequence = Sequence::Escape,
            '\u{9b}' => self.sequence = Sequence::Csi(String::new()),
            '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => self.begin_string(StringKind::Line),
            '\u{90}' => self.begin_string(StringKind::Block),
            '\u{7f}' => {
                self.line.put('^', out);
                self.line.put('?', out);
            }
            '\0'..='\u{1f}' if c != '\t' => {
                self.line.put('^', out);
                self.line.put(char::from(c as u8 + b'@'), out);
            }
            '\u{80}'..='\u{9f}' => {
                for c in format!("\\x{:02x}", c as u32).chars() {
                    self.line.put(c, out);
                }
            }
            _ => self.line.put(c, out),
        }
    }

    /// Bytes of memory the line being built holds.
    #[cfg(test)]
    pub(super) fn line_capacity(&self) -> usize {
        self.line.text.capacity()
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

    /// The two kinds of control sequence that programs redraw a line with.
    fn control(&mut self, parameters: &str, last: char, out: &mut String) {
        match (last, parameters) {
            ('K', "2") => self.erase(out),
            ('K', "" | "0") if self.returned => self.erase(out),
            ('G', "" | "1") => self.returned = true,
            _ => {}
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

/// How many bytes at the start of `bytes` are whole lines of nothing but printable ASCII and
/// tabs: the common case, at the speed of a copy.
fn plain_lines(bytes: &[u8]) -> usize {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // In blocks, so that the check can be done many bytes at a time.
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

/// Bytes that text would not hold: control characters without a use in text, broken UTF-8.
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
