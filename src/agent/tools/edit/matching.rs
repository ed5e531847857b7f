//! Finds the text that an edit means: exactly, or else ignoring what models get wrong (trailing spaces,
//! Unicode punctuation, indentation). It only finds; `splice` makes the replacement.

use std::ops::Range;

use memchr::memmem;

use super::fold::Folded;
use super::index::{Fuzz, Index, LineEnds, body};
use crate::diff::lines;

/// Larger files are searched only for exact matches.
const MAX_FUZZY: usize = 4 * 1024 * 1024;

/// A file's bytes with CRLF as LF, and how to map them back. A lone CR isn't a line end.
pub struct Normal {
    /// The bytes, CRLF as LF.
    pub bytes: Vec<u8>,
    /// The positions in `bytes` of LFs that lost a CR.
    crs: Vec<usize>,
}

impl Normal {
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

    /// The range of the original content for `range` of `bytes`.
    fn original(&self, range: &Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.crs.partition_point(|cr| *cr < at);
        back(range.start)..back(range.end)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Unique,
    All,
}

/// Where an edit applies.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The ranges of the file's content, ascending.
    pub ranges: Vec<Range<usize>>,
    /// The differences ignored to find them.
    pub fuzz: Fuzz,
    /// How the indentation of the edit differs from the file's.
    pub shift: Shift,
}

#[derive(Debug, PartialEq, Eq)]
pub enum NoMatch {
    NotFound,
    /// It is in more than one place.
    Many(usize),
    /// These lines match, counted from 0, but their indentation doesn't differ by one shift.
    Indented(Range<usize>),
}

/// How the indentation of an edit's lines differs from the file's: all in the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    pub lacks: Vec<u8>,
    /// What they have too much of.
    pub exceeds: Vec<u8>,
}

impl Shift {
    /// The shift from the indentation of `old` to that of `present`, if it is the same in every line.
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
        let (lacks, exceeds) = match (present.strip_suffix(old), old.strip_suffix(present)) {
            (Some(lacks), _) => (lacks.to_vec(), Vec::new()),
            (_, Some(exceeds)) => (Vec::new(), exceeds.to_vec()),
            _ => return None,
        };
        Some(Self { lacks, exceeds })
    }

    /// A line of the edit's new text, shifted like the file; none if it has too little indentation.
    pub fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        if line.trim_ascii().is_empty() {
            return Some(line.to_vec());
        }
        let rest = line.strip_prefix(self.exceeds.as_slice())?;
        Some([self.lacks.as_slice(), rest].concat())
    }
}

/// Finds where `new` can replace `old` (not empty) in `text`. Both have only LFs.
pub fn find(text: &Normal, old: &[u8], new: &[u8], scope: Scope) -> Result<Found, NoMatch> {
    let mut fuzz = Fuzz::Exact;
    let mut shift = Shift::default();
    let mut ranges = match scope {
        Scope::Unique => overlapping(&text.bytes, old),
        Scope::All => memmem::find_iter(&text.bytes, old)
            .map(|at| at..at + old.len())
            .collect(),
    };
    if ranges.is_empty() && text.bytes.len() > MAX_FUZZY {
        return Err(NoMatch::NotFound);
    }
    if ranges.is_empty() {
        fuzz = Fuzz::Typography;
        ranges = typographic(&text.bytes, old);
    }
    if ranges.is_empty() {
        fuzz = Fuzz::Indentation;
        let (range, found) = indented(&text.bytes, old, new)?;
        (ranges, shift) = (vec![range], found);
    }
    if ranges.len() > 1 && scope == Scope::Unique {
        return Err(NoMatch::Many(ranges.len()));
    }
    Ok(Found {
        ranges: ranges.iter().map(|range| text.original(range)).collect(),
        fuzz,
        shift,
    })
}

/// All places, including overlapping ones: `aa` isn't unique in `aaa`.
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
    let (mut text, mut old) = (Folded::new(text), Folded::new(old));
    text.trim_end();
    let found = text.all(&old.bytes, |_| true);
    if !found.is_empty() {
        return found;
    }
    // Spaces at the very end of `old` can be ignored only if the line really ends there.
    let length = old.bytes.len();
    old.trim_end();
    if old.bytes.len() == length {
        return found;
    }
    text.all(&old.bytes, |end| {
        text.bytes.get(end).is_none_or(|next| *next == b'\n')
    })
}

/// Whole lines that match `old` without indentation. Indentation matters too much to change several
/// places, or to guess how to indent new lines.
fn indented(text: &[u8], old: &[u8], new: &[u8]) -> Result<(Range<usize>, Shift), NoMatch> {
    if old.trim_ascii().is_empty() {
        return Err(NoMatch::NotFound);
    }
    let old_lines: Vec<&[u8]> = lines(old).into_iter().map(body).collect();
    let index = Index::new(text, LineEnds::Lf);
    let places: Vec<usize> = index.all(Fuzz::Indentation, &old_lines, 0).collect();
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
    Ok((start..end, shift))
}

fn indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &line[..end.unwrap_or(line.len())]
}
