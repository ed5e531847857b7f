//! Cleans the output of programs: what comes out holds no control character but line feed and
//! tab, however the bytes were cut on the way.
//!
//! Escape sequences vanish; a line that a program wrote over and over (carriage return) keeps its
//! last state; other control characters are shown (`^G`, `\x85`); broken UTF-8 becomes U+FFFD;
//! data that is no text is replaced by one line that says how much there was. It emulates no
//! terminal: cursor movement over several lines is ignored.

use std::fmt::Write;

/// Characters of an unfinished line that can still be taken back by a carriage return.
const LINE_LIMIT: usize = 16 * 1024;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clean(bytes: &[u8]) -> String {
        let mut cleaner = Cleaner::default();
        let mut out = String::new();
        cleaner.push(bytes, &mut out);
        cleaner.finish(&mut out);
        out
    }

    // J1, J2
    #[test]
    fn output_is_cleaned() {
        for (raw, expected) in [
            ("", ""),
            ("plain\n\ttab\n", "plain\n\ttab\n"),
            ("no end", "no end"),
            ("\x1b[1;31mred\x1b[0m \x1b[38;5;3mx\x1b[m", "red x"),
            (
                "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b",
                "alinkb",
            ),
            ("\x1bPq#0;2\n~~\x1b\\after", "after"),
            ("\x1b(Bx\x1b7y\x1bcz", "xyz"),
            ("\u{9b}31mx\u{9d}0;t\u{9c}y\u{90}q\u{9c}z", "xyz"),
            // A string without an end swallows its line and no more.
            ("\x1b]0;never ends\nnext\n", "\nnext\n"),
            ("\x1b]0;cut \x1b[1mnew\n", "new\n"),
            // A sequence that is none.
            ("a\x1b[12\nb", "a\nb"),
            ("a\x1b", "a"),
            ("dos\r\nlines\r\r\n", "dos\nlines\n"),
            ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
            ("10%\r", "10%"),
            ("working\r\x1b[Kdone\n", "done\n"),
            ("working\r\x1b[K\n", "\n"),
            ("working\x1b[2K\x1b[1Gdone\n", "done\n"),
            ("longer line\rshort\n", "short\n"),
            (
                "bell\x07 nul\0 back\x08 del\x7f nel\u{85}",
                "bell^G nul^@ back^H del^? nel\\x85",
            ),
            ("page\x0cbreak", "page^Lbreak"),
            ("grüße 👩‍👩‍👧 漢字\n", "grüße 👩‍👩‍👧 漢字\n"),
            ("a.txt\0b.txt\0", "a.txt^@b.txt^@"),
        ] {
            assert_eq!(clean(raw.as_bytes()), expected, "{raw:?}");
        }
    }

    #[test]
    fn broken_utf8_is_replaced() {
        assert_eq!(clean(b"caf\xe9 au lait\n"), "caf\u{fffd} au lait\n");
        assert_eq!(clean(b"some text, cut \xe6\xbc"), "some text, cut \u{fffd}");
        assert_eq!(clean(b"some text, \xe6\xbc\n"), "some text, \u{fffd}\n");
    }

    // J2
    #[test]
    fn data_is_named_and_text_around_it_stays() {
        let mut noise = Vec::new();
        let mut state = 1u32;
        for _ in 0..50_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.push((state >> 24) as u8);
        }
        // Not a line end at its end, so that what follows joins the last piece.
        noise.push(b'\n');
        let mut raw = b"start\n".to_vec();
        raw.extend(&noise);
        raw.extend(b"end\n");
        let cleaned = clean(&raw);
        assert!(cleaned.starts_with("start\n"), "{cleaned:?}");
        assert!(cleaned.ends_with("bytes not shown]\nend\n"), "{cleaned:?}");
        assert!(cleaned.len() < 200, "{cleaned:?}");

        let mut raw = noise.clone();
        raw.extend("a line of plain text\n".repeat(20).bytes());
        assert!(clean(&raw).ends_with(&"a line of plain text\n".repeat(20)));
    }

    #[test]
    fn an_endless_line_is_neither_held_nor_lost() {
        let mut cleaner = Cleaner::default();
        let mut out = String::new();
        for _ in 0..1000 {
            cleaner.push(&[b'x'; 1000], &mut out);
        }
        assert!(cleaner.line.text.capacity() <= 4 * LINE_LIMIT);
        cleaner.push(b"\rnew", &mut out);
        cleaner.finish(&mut out);
        assert_eq!(out, format!("{}\nnew", "x".repeat(1_000_000)));
    }

    #[test]
    fn the_line_being_written_can_be_seen() {
        let mut cleaner = Cleaner::default();
        let mut out = String::new();
        cleaner.push(b"one\n10%\r20", &mut out);
        assert_eq!((out.as_str(), cleaner.pending().as_str()), ("one\n", "20"));
        cleaner.push(b"%\n", &mut out);
        assert_eq!(
            (out.as_str(), cleaner.pending().as_str()),
            ("one\n20%\n", "")
        );
    }

    /// Bytes as programs write them: text, sequences, controls, data.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[ -~]{0,40}".prop_map(String::into_bytes),
            "\\PC{0,10}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..30),
            proptest::sample::select(vec![
                "\n",
                "\r",
                "\r\n",
                "\x1b[",
                "\x1b[2K",
                "\x1b]0;",
                "\x07",
                "\x1b",
                "\x1b\\",
                "\x1bP",
                "\u{9b}",
                "\u{90}",
                "é",
                "👩‍👧",
                "\0",
                "\x1b[K",
                "\x1b[G",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            (0usize..6000).prop_map(|count| vec![b'x'; count]),
        ];
        proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter_and_no_control_character_gets_through(
            raw in output(),
            cuts in proptest::collection::vec(1usize..500, 1..50),
        ) {
            let whole = clean(&raw);
            prop_assert!(!whole.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            let mut cleaner = Cleaner::default();
            let mut out = String::new();
            let mut rest = &raw[..];
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                cleaner.push(now, &mut out);
                let seen = cleaner.pending();
                prop_assert!(!seen.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            cleaner.finish(&mut out);
            prop_assert_eq!(out, whole);
        }
    }
}
