//! Text with plain typography: Unicode quotes, dashes and spaces become ASCII, trailing spaces disappear.
//! Two texts match if their folded forms are equal.

use std::ops::Range;

use memchr::memmem;

use crate::paths::is_odd_blank;

/// A folded text, and where each of its bytes comes from.
pub struct Folded {
    pub bytes: Vec<u8>,
    from: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds `text`, except for spaces at its very end.
    pub fn new(text: &[u8]) -> Self {
        let mut folded = Self {
            bytes: Vec::with_capacity(text.len()),
            from: Vec::with_capacity(text.len()),
        };
        let mut at = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                let end = at + c.len_utf8();
                if c == '\n' {
                    folded.trim_end();
                }
                match plain(c) {
                    Some(byte) => folded.push(byte, at, end),
                    None => folded.copy(text, at, end),
                }
                at = end;
            }
            let end = at + chunk.invalid().len();
            folded.copy(text, at, end);
            at = end;
        }
        folded
    }

    /// Removes spaces at the end.
    pub fn trim_end(&mut self) {
        let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
        let end = self.bytes.iter().rposition(is_text).map_or(0, |at| at + 1);
        self.bytes.truncate(end);
        self.from.truncate(end);
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

    /// The ranges of the unfolded text that match `old` and whose end (in folded bytes) `fit` accepts.
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

/// The plain byte that replaces `c`, if any.
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
