//! Cuts a page of whole lines out of a stream of bytes of any length, and counts the rest. Holds
//! the page and nothing else. Lines end with LF; a lone CR is no line end.

use memchr::{memchr, memchr_iter};

/// Which lines are wanted, and how much at most.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The first line, from 1.
    pub offset: u64,
    /// Lines at most.
    pub max_lines: u64,
    /// Bytes at most, the last line end not counted.
    pub max_bytes: usize,
}

/// The page as it fills.
#[derive(Debug)]
pub struct Page {
    wanted: Wanted,
    /// The lines, as they are in the file, line ends included.
    pub bytes: Vec<u8>,
    /// Lines in `bytes`; the last may be cut.
    pub lines: u64,
    /// Bytes in all of the only line, when it alone was too long and had to be cut.
    pub cut: Option<u64>,
    /// Lines that ended so far, in all.
    ended: u64,
    /// Whether bytes came after the last line end.
    open: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Before the first wanted line, or in the page.
    Filling,
    /// In the rest of a line that was cut.
    Cutting,
    /// Behind the page.
    Full,
}

impl Page {
    /// An empty page.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            bytes: Vec::new(),
            lines: 0,
            cut: None,
            ended: 0,
            open: false,
            state: State::Filling,
        }
    }

    /// Whether more bytes can only be counted.
    pub fn is_full(&self) -> bool {
        self.state == State::Full
    }

    /// Lines seen so far, in all.
    pub fn total(&self) -> u64 {
        self.ended + u64::from(self.open)
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if self.state == State::Full {
                self.ended += memchr_iter(b'\n', chunk).count() as u64;
                self.open = !chunk.ends_with(b"\n");
                return;
            }
            let end = memchr(b'\n', chunk).map_or(chunk.len(), |at| at + 1);
            let (piece, rest) = chunk.split_at(end);
            chunk = rest;
            if self.ended + 1 >= self.wanted.offset {
                self.take(piece);
            }
            self.open = !piece.ends_with(b"\n");
            if !self.open {
                self.ended += 1;
                if self.state == State::Cutting || self.lines >= self.wanted.max_lines {
                    self.state = State::Full;
                }
            }
        }
    }

    fn take(&mut self, piece: &[u8]) {
        if let (State::Cutting, Some(length)) = (self.state, &mut self.cut) {
            *length += piece.len() as u64;
            return;
        }
        if self.state == State::Full {
            return;
        }
        let body = piece.strip_suffix(b"\n").unwrap_or(piece);
        let starts = !self.open;
        if self.bytes.len() + body.len() <= self.wanted.max_bytes {
            self.lines += u64::from(starts);
            self.bytes.extend_from_slice(piece);
            return;
        }
        let line = memchr::memrchr(b'\n', &self.bytes).map(|at| at + 1);
        match line {
            // Lines before this one fit: they are the page.
            Some(end) => {
                self.lines -= u64::from(!starts);
                self.bytes.truncate(end);
                self.state = State::Full;
            }
            None => {
                self.lines = 1;
                self.cut = Some((self.bytes.len() + piece.len()) as u64);
                let room = self.wanted.max_bytes - self.bytes.len();
                self.bytes.extend_from_slice(&body[..room]);
                let whole = whole_characters(&self.bytes);
                self.bytes.truncate(whole);
                self.state = State::Cutting;
            }
        }
    }
}

/// The length of `bytes` without a UTF-8 character cut at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    (tail..bytes.len())
        .rev()
        .find(|at| bytes[*at] & 0xc0 == 0xc0)
        .filter(|at| {
            std::str::from_utf8(&bytes[*at..]).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(text: &[u8], wanted: Wanted, piece: usize) -> Page {
        let mut page = Page::new(wanted);
        text.chunks(piece).for_each(|chunk| page.feed(chunk));
        page
    }

    #[test]
    fn a_line_too_long_is_cut_at_a_character() {
        let wanted = Wanted {
            offset: 1,
            max_lines: 10,
            max_bytes: 4,
        };
        for piece in 1..9 {
            let page = page("a\u{e9}\u{e9}b\nnext\n".as_bytes(), wanted, piece);
            assert_eq!(page.bytes, "a\u{e9}".as_bytes(), "pieces of {piece}");
            assert_eq!((page.cut, page.lines, page.total()), (Some(7), 1, 2));
        }
    }

    proptest! {
        // Whole lines only, never more than asked, the same for every way of cutting the stream.
        #[test]
        fn a_page_is_whole_lines_within_bounds(
            text in "[a\u{e9}\u{1f600}\n]{0,60}",
            offset in 1_u64..12,
            max_lines in 1_u64..6,
            max_bytes in 4_usize..24,
            piece in 1_usize..70,
        ) {
            let wanted = Wanted { offset, max_lines, max_bytes };
            let page = page(text.as_bytes(), wanted, piece);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            prop_assert_eq!(page.total(), lines.len() as u64);
            let shown = std::str::from_utf8(&page.bytes).unwrap();
            prop_assert!(shown.strip_suffix('\n').unwrap_or(shown).len() <= max_bytes);
            prop_assert!(page.lines <= max_lines);
            let from = lines.get(offset as usize - 1..).unwrap_or_default();
            let expected = from[..page.lines as usize].concat();
            if page.cut.is_some() {
                prop_assert_eq!(page.lines, 1);
                prop_assert!(expected.starts_with(shown));
            } else {
                prop_assert_eq!(shown, expected);
                let more = from.get(page.lines as usize);
                let full = more.is_none_or(|line| shown.len() + line.trim_end().len() > max_bytes);
                prop_assert!(page.lines == max_lines || full);
            }
        }
    }
}
