//! Finds the text that an edit means: exactly, or, when there is no such text, tolerant of what
//! models get wrong (trailing blanks, Unicode punctuation, indentation). Only finds: what is put
//! in its place is made in `splice`.

use std::ops::Range;

use memchr::memmem;

use crate::agent::tools::paths::is_odd_blank;

/// Larger files are only searched exactly.
const MAX_TOLERANT: usize = 4 * 1024 * 1024;

/// A file's bytes with LF for CRLF, and the way back. A lone CR is no line end.
pub struct Normal {
    /// The bytes, CRLF as LF.
    pub bytes: Vec<u8>,
    /// Where in `bytes` the LFs are that lost a CR.
    crs: Vec<usize>,
}

impl Normal {
    /// Normalises `content`.
    pub fn new(content: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(content.len());
        let mut crs = Vec::new();
        let mut rest = content;
        while let Some(at) = memmem::find(rest, b"\r\n") {
            bytes.extend_from_slice(&rest[..at]);
            crs.push(bytes.len());
            bytes.push(b'\n');
            rest = &rest[at + 2..];
        }
        bytes.extend_from_slice(rest);
        Self { bytes, crs }
    }

    /// The range of the original content that `range` of `bytes` stands for.
    pub fn original(&self, range: &Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.crs.partition_point(|cr| *cr < at);
        back(range.start)..back(range.end)
    }
}

/// What a match had to overlook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Nothing.
    Exact,
    /// Trailing blanks, Unicode quotes, dashes and spaces.
    Typography,
    /// Those, and how lines are indented.
    Indentation,
}

/// How many places an edit may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Exactly one.
    Unique,
    /// All there are.
    All,
}

/// Why there is no match.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    /// The text is nowhere.
    NotFound,
    /// It is in more than one place.
    Many(usize),
}

/// The ranges of `text.bytes` that `old` (LF only, not empty) means, ascending.
pub fn find(
    text: &Normal,
    old: &[u8],
    scope: Scope,
) -> Result<(Vec<Range<usize>>, Tolerance), Miss> {
    let found = match scope {
        Scope::Unique => overlapping(&text.bytes, old),
        Scope::All => memmem::find_iter(&text.bytes, old)
            .map(|at| at..at + old.len())
            .collect(),
    };
    if !found.is_empty() {
        return one(found, scope).map(|found| (found, Tolerance::Exact));
    }
    if text.bytes.len() > MAX_TOLERANT {
        return Err(Miss::NotFound);
    }
    let found = typographic(&text.bytes, old);
    if !found.is_empty() {
        return one(found, scope).map(|found| (found, Tolerance::Typography));
    }
    let found = indented(&text.bytes, old);
    // Indentation means too much to change several places on a guess.
    one(found, Scope::Unique).map(|found| (found, Tolerance::Indentation))
}

fn one(found: Vec<Range<usize>>, scope: Scope) -> Result<Vec<Range<usize>>, Miss> {
    match (found.len(), scope) {
        (0, _) => Err(Miss::NotFound),
        (1, _) | (_, Scope::All) => Ok(found),
        (count, Scope::Unique) => Err(Miss::Many(count)),
    }
}

/// All places, also where they share bytes: `aa` is not unique in `aaa`.
fn overlapping(text: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
        found.push(from + at..from + at + old.len());
        from += at + 1;
    }
    found
}

fn typographic(text: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let text = Folded::new(text, Trailing::Dropped);
    let kept = Folded::new(old, Trailing::Kept);
    let found = text.all(&kept.bytes, |_| true);
    if !found.is_empty() {
        return found;
    }
    // Blanks at the very end of `old` may be left out only where the line really ends.
    let dropped = Folded::new(old, Trailing::Dropped);
    if dropped.bytes.len() == kept.bytes.len() {
        return found;
    }
    text.all(&dropped.bytes, |end| {
        text.bytes.get(end).is_none_or(|next| *next == b'\n')
    })
}

/// What to do with blanks at the end of the whole text; those before a line end always go.
#[derive(Clone, Copy, PartialEq)]
enum Trailing {
    Kept,
    Dropped,
}

/// A text with its typography made plain, and where each byte comes from.
struct Folded {
    bytes: Vec<u8>,
    from: Vec<(usize, usize)>,
}

impl Folded {
    fn new(text: &[u8], trailing: Trailing) -> Self {
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

    /// Ranges of the unfolded text where `old` is, without those whose end (in folded bytes) does
    /// not `fit`.
    fn all(&self, old: &[u8], fit: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
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

/// A line without the blanks around it, its typography made plain.
pub fn plain_line(line: &[u8]) -> Vec<u8> {
    let bytes = Folded::new(line.trim_ascii(), Trailing::Dropped).bytes;
    bytes.trim_ascii().to_vec()
}

/// Whole lines that are those of `old` but for their indentation.
fn indented(text: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let core = plain_line;
    let wanted: Vec<Vec<u8>> = old.split_inclusive(|b| *b == b'\n').map(core).collect();
    if wanted.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|b| *b == b'\n') {
        lines.push((at..at + line.len(), core(line)));
        at += line.len();
    }
    lines
        .windows(wanted.len())
        .filter(|window| {
            window
                .iter()
                .zip(&wanted)
                .all(|((_, line), want)| line == want)
        })
        .map(|window| {
            let start = window[0].0.start;
            let last = &window[window.len() - 1].0;
            let body = text[last.clone()]
                .strip_suffix(b"\n")
                .map_or(last.end, |_| last.end - 1);
            start..if old.ends_with(b"\n") { last.end } else { body }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str) -> Result<(String, Tolerance), Miss> {
        let normal = Normal::new(text.as_bytes());
        let (found, tolerance) = find(&normal, old.as_bytes(), Scope::Unique)?;
        let range = normal.original(&found[0]);
        Ok((text[range].to_string(), tolerance))
    }

    #[test]
    fn what_is_found_and_how() {
        use Tolerance::*;
        let cases = [
            ("a\r\nb\r\nc", "a\nb", "a\r\nb", Exact),
            ("a\r\nb\r\nc", "b\n", "b\r\n", Exact),
            ("a\rb", "a\rb", "a\rb", Exact),
            (
                "x = \u{201c}q\u{201d}; y",
                "x = \"q\";",
                "x = \u{201c}q\u{201d};",
                Typography,
            ),
            ("one  \ntwo\n", "one\ntwo", "one  \ntwo", Typography),
            ("one\ntwo\n", "one \ntwo", "one\ntwo", Typography),
            (
                "a\u{a0}\u{2014}\u{a0}b",
                "a - b",
                "a\u{a0}\u{2014}\u{a0}b",
                Typography,
            ),
            ("foo\nfoobar", "foo ", "foo", Typography),
            (
                "\tif x {\n\t\ty\n\t}\n",
                "if x {\n    y\n}",
                "\tif x {\n\t\ty\n\t}",
                Indentation,
            ),
            ("    a\n", "\ta\n", "    a\n", Indentation),
        ];
        for (text, old, expected, tolerance) in cases {
            assert_eq!(
                check(text, old),
                Ok((expected.to_string(), tolerance)),
                "{text:?} {old:?}"
            );
        }
    }

    #[test]
    fn what_is_not_found() {
        let cases = [
            ("abc", "x", Miss::NotFound),
            ("a a", "a", Miss::Many(2)),
            ("aaa", "aa", Miss::Many(2)),
            ("foobar", "foo ", Miss::NotFound),
            ("  x\n\tx\n", "x ", Miss::Many(2)),
            ("a\n\n\nb", "  ", Miss::NotFound),
            ("  p\n  q\n\tp\n\tq\n", "p\nq", Miss::Many(2)),
        ];
        for (text, old, miss) in cases {
            assert_eq!(check(text, old), Err(miss), "{text:?} {old:?}");
        }
    }
}
