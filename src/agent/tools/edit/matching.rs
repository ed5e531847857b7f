//! Finds the text that an edit means: exactly, or, when there is no such text, ignoring what models
//! get wrong (trailing spaces, Unicode punctuation, indentation). Only finds: what is put in its
//! place is made in `splice`.

use std::ops::Range;

use memchr::memmem;

use super::fold::{Folded, Trailing};
use super::index::{Fuzz, Index, LineEnds, body};

/// Larger files are only searched exactly.
const MAX_FUZZY: usize = 4 * 1024 * 1024;

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

/// How many places an edit may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Exactly one.
    Unique,
    /// All there are.
    All,
}

/// Where an edit applies.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The ranges of the text, ascending.
    pub ranges: Vec<Range<usize>>,
    /// What was ignored to find them.
    pub fuzz: Fuzz,
    /// How lines of the edit differ from those of the file in their indentation.
    pub shift: Shift,
}

/// Why there is no match.
#[derive(Debug, PartialEq, Eq)]
pub enum NoMatch {
    /// The text is nowhere.
    NotFound,
    /// It is in more than one place.
    Many(usize),
    /// Its lines are these, from 0, but their indentation does not differ by one shift.
    Indented(Range<usize>),
}

/// The same indentation at the start of all lines that are not blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shift {
    /// None.
    #[default]
    None,
    /// The edit's lines lack it.
    Lacks(Vec<u8>),
    /// The edit's lines have it and the file's do not.
    Exceeds(Vec<u8>),
}

impl Shift {
    /// What turns the indentation of `old` into that of `present`, line by line.
    fn between(old: &[&[u8]], present: &[&[u8]]) -> Option<Self> {
        let mut pairs = old
            .iter()
            .zip(present)
            .filter(|(old, _)| !old.trim_ascii().is_empty())
            .map(|(old, present)| Self::of(indent(old), indent(present)));
        let first = pairs.next()??;
        pairs
            .all(|shift| shift.as_ref() == Some(&first))
            .then_some(first)
    }

    fn of(old: &[u8], present: &[u8]) -> Option<Self> {
        match (present.strip_suffix(old), old.strip_suffix(present)) {
            (Some(b""), _) => Some(Self::None),
            (Some(more), _) => Some(Self::Lacks(more.to_vec())),
            (_, Some(less)) => Some(Self::Exceeds(less.to_vec())),
            _ => None,
        }
    }

    /// A line of the edit's new text as the file would have it; none when it has too little
    /// indentation for that.
    pub fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        match self {
            _ if line.trim_ascii().is_empty() => Some(line.to_vec()),
            Self::None => Some(line.to_vec()),
            Self::Lacks(more) => Some([more, line].concat()),
            Self::Exceeds(less) => line.strip_prefix(less.as_slice()).map(<[u8]>::to_vec),
        }
    }
}

/// The ranges of `text.bytes` that `old` (not empty) means and that `new` can take the place of;
/// both with LF only.
pub fn find(text: &Normal, old: &[u8], new: &[u8], scope: Scope) -> Result<Found, NoMatch> {
    let found = match scope {
        Scope::Unique => overlapping(&text.bytes, old),
        Scope::All => memmem::find_iter(&text.bytes, old)
            .map(|at| at..at + old.len())
            .collect(),
    };
    if !found.is_empty() {
        return one(found, Fuzz::Exact, scope);
    }
    if text.bytes.len() > MAX_FUZZY {
        return Err(NoMatch::NotFound);
    }
    let found = typographic(&text.bytes, old);
    if !found.is_empty() {
        return one(found, Fuzz::Typography, scope);
    }
    indented(&text.bytes, old, new)
}

fn one(ranges: Vec<Range<usize>>, fuzz: Fuzz, scope: Scope) -> Result<Found, NoMatch> {
    if ranges.len() > 1 && scope == Scope::Unique {
        return Err(NoMatch::Many(ranges.len()));
    }
    let shift = Shift::None;
    Ok(Found {
        ranges,
        fuzz,
        shift,
    })
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
    // Spaces at the very end of `old` may be left out only where the line really ends.
    let dropped = Folded::new(old, Trailing::Dropped);
    if dropped.bytes.len() == kept.bytes.len() {
        return found;
    }
    text.all(&dropped.bytes, |end| {
        text.bytes.get(end).is_none_or(|next| *next == b'\n')
    })
}

/// Whole lines that are those of `old` when indentation is ignored. Indentation means too much to
/// change several places, or to guess how new lines are to be indented.
fn indented(text: &[u8], old: &[u8], new: &[u8]) -> Result<Found, NoMatch> {
    let old_lines: Vec<&[u8]> = old
        .split_inclusive(|byte| *byte == b'\n')
        .map(body)
        .collect();
    if old.trim_ascii().is_empty() {
        return Err(NoMatch::NotFound);
    }
    let index = Index::new(text, LineEnds::Lf);
    let places = index.all(Fuzz::Indentation, &old_lines, 0);
    let places: Vec<usize> = places.into_iter().flatten().collect();
    let first = match places[..] {
        [] => return Err(NoMatch::NotFound),
        [first] => first,
        _ => return Err(NoMatch::Many(places.len())),
    };
    let lines = first..first + old_lines.len();
    let present = &index.lines()[lines.clone()];
    let shift = Shift::between(&old_lines, present).filter(|shift| {
        let mut new_lines = new.split(|byte| *byte == b'\n');
        new_lines.all(|line| shift.line(line).is_some())
    });
    let shift = shift.ok_or(NoMatch::Indented(lines))?;
    let start = index.lines()[..first].iter().map(|line| line.len()).sum();
    let mut end: usize = present.iter().fold(start, |end, line| end + line.len());
    if !old.ends_with(b"\n") && present.last().is_some_and(|line| line.ends_with(b"\n")) {
        end -= 1;
    }
    Ok(Found {
        ranges: vec![Range { start, end }],
        fuzz: Fuzz::Indentation,
        shift,
    })
}

fn indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str) -> Result<(String, Fuzz), NoMatch> {
        let normal = Normal::new(text.as_bytes());
        let found = find(&normal, old.as_bytes(), b"", Scope::Unique)?;
        let range = normal.original(&found.ranges[0]);
        Ok((text[range].to_string(), found.fuzz))
    }

    #[test]
    fn what_is_found_and_how() {
        use Fuzz::*;
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
                "p\n\tif x {\n\t\ty\n\t}\nq\n",
                "if x {\n\ty\n}",
                "\tif x {\n\t\ty\n\t}",
                Indentation,
            ),
            ("a \u{2014}\n", "\ta -\n", "a \u{2014}\n", Indentation),
        ];
        for (text, old, expected, fuzz) in cases {
            assert_eq!(
                check(text, old),
                Ok((expected.to_string(), fuzz)),
                "{text:?} {old:?}"
            );
        }
    }

    #[test]
    fn what_is_not_found() {
        let cases = [
            ("abc", "x", NoMatch::NotFound),
            ("a a", "a", NoMatch::Many(2)),
            ("aaa", "aa", NoMatch::Many(2)),
            ("foobar", "foo ", NoMatch::NotFound),
            ("  x\n\tx\n", "x ", NoMatch::Many(2)),
            ("a\n\n\nb", "  ", NoMatch::NotFound),
            ("  p\n  q\n\tp\n\tq\n", "p\nq", NoMatch::Many(2)),
            ("    a\n", "\ta\n", NoMatch::Indented(0..1)),
            ("x\n  a\n    b\n", "a\nb", NoMatch::Indented(1..3)),
        ];
        for (text, old, expected) in cases {
            assert_eq!(check(text, old), Err(expected), "{text:?} {old:?}");
        }
    }
}
