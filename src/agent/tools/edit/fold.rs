//! Text with its typography made plain: Unicode quotes, dashes and spaces as ASCII, without
//! trailing spaces. What two texts must share to be taken for each other.

use std::ops::Range;

use memchr::memmem;

use crate::agent::tools::paths::is_odd_blank;

/// What to do with spaces at the end of the whole text; those before a line end always go.
#[derive(Clone, Copy, PartialEq)]
pub enum Trailing {
    /// They stay.
    Kept,
    /// They go.
    Dropped,
}

/// A folded text, and where each of its bytes comes from.
pub struct Folded {
    /// The text.
    pub bytes: Vec<u8>,
    from: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds `text`.
    pub fn new(text: &[u8], trailing: Trailing) -> Self {
        let mut folded = Self {
            bytes: Vec::with_capacity(text.len()),
            from: Vec::with_capacity(text.len()),
        };
        let mut blanks: Vec<(u8, usize, usize)> = Vec::new();
        let mut at = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                let end = at + c.len_utf8();
                match plain(c) {
                    Some(blank @ (b' ' | b'\t')) => blanks.push((blank, at, end)),
                    plain => {
                        if c != '\n' {
                            folded.flush(&mut blanks);
                        }
                        blanks.clear();
                        match plain {
                            Some(byte) => folded.push(byte, at, end),
                            None => folded.copy(text, at, end),
                        }
                    }
                }
                at = end;
            }
            if !chunk.invalid().is_empty() {
                folded.flush(&mut blanks);
                folded.copy(text, at, at + chunk.invalid().len());
                at += chunk.invalid().len();
            }
        }
        if trailing == Trailing::Kept {
            folded.flush(&mut blanks);
        }
        folded
    }

    fn push(&mut self, byte: u8, start: usize, end: usize) {
        self.bytes.push(byte);
        self.from.push((start, end));
    }

    fn copy(&mut self, text: &[u8], start: usize, end: usize) {
        for (index, byte) in text[start..end].iter().enumerate() {
            self.push(*byte, start + index, start + index + 1);
        }
    }

    fn flush(&mut self, blanks: &mut Vec<(u8, usize, usize)>) {
        for (blank, start, end) in blanks.drain(..) {
            self.push(blank, start, end);
        }
    }

    /// The ranges of the unfolded text where `old` is, without those whose end (in folded bytes)
    /// does not `fit`.
    pub fn all(&self, old: &[u8], fit: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        if old.iter().all(u8::is_ascii_whitespace) {
            return Vec::new();
        }
        memmem::find_iter(&self.bytes, old)
            .filter(|at| fit(at + old.len()))
            .map(|at| self.from[at].0..self.from[at + old.len() - 1].1)
            .collect()
    }
}

/// The plain byte that `c` is taken for, if any.
fn plain(c: char) -> Option<u8> {
    Some(match c {
        ' ' | '\t' => c as u8,
        '\u{2018}'..='\u{201b}' => b'\'',
        '\u{201c}'..='\u{201f}' => b'"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => b'-',
        _ if is_odd_blank(c) => b' ',
        _ => return None,
    })
}

/// A line without the spaces around it, folded.
pub fn fold_line(line: &[u8]) -> Vec<u8> {
    let bytes = Folded::new(line.trim_ascii(), Trailing::Dropped).bytes;
    bytes.trim_ascii().to_vec()
}
