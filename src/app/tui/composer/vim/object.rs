//! Text objects.

use std::ops::Range;

use super::super::motion::{line_end, line_start, next, prev};
use super::command::{Object, ObjectKind};
use super::motion::{Class, class, end_of_this, unmatched};

/// The bytes of the object around `at`, if any.
pub fn range(text: &str, at: usize, object: Object) -> Option<Range<usize>> {
    match object.kind {
        ObjectKind::Word { big } => word(text, at, big, object.around),
        ObjectKind::Quotes(quote) => quotes(text, at, quote, object.around),
        ObjectKind::Brackets(open, close) => brackets(text, at, (open, close), object.around),
    }
}

fn word(text: &str, at: usize, big: bool, around: bool) -> Option<Range<usize>> {
    let (first, last) = (line_start(text, at), line_end(text, at));
    if at >= last {
        return None;
    }
    let run = |at: usize| {
        let this = class(text, at, big);
        let mut start = at;
        while start > first && this != Class::Paste {
            let before = prev(text, start);
            if class(text, before, big) != this {
                break;
            }
            start = before;
        }
        start..next(text, end_of_this(text, at, big)).min(last)
    };
    let inner = run(at);
    if !around {
        return Some(inner);
    }
    let behind = || (inner.end < last).then(|| run(inner.end));
    let is_space = |run: &Range<usize>| class(text, run.start, big) == Class::Space;
    if is_space(&inner) {
        return Some(inner.start..behind().map_or(inner.end, |word| word.end));
    }
    if let Some(spaces) = behind().filter(is_space) {
        return Some(inner.start..spaces.end);
    }
    let before = (inner.start > first).then(|| run(prev(text, inner.start)));
    let start = before
        .filter(is_space)
        .map_or(inner.start, |spaces| spaces.start);
    Some(start..inner.end)
}

/// A pair of quotes on the line: the one around the place, or the next.
fn quotes(text: &str, at: usize, quote: char, around: bool) -> Option<Range<usize>> {
    let (start, end) = (line_start(text, at), line_end(text, at));
    let line = &text[start..end];
    let mut places = line
        .match_indices(quote)
        .map(|(place, _)| start + place)
        .filter(|place| !text[..*place].ends_with('\\'));
    while let (Some(open), Some(close)) = (places.next(), places.next()) {
        if at <= close {
            return Some(pair(open, close, around));
        }
    }
    None
}

fn brackets(
    text: &str,
    at: usize,
    (open, close): (char, char),
    around: bool,
) -> Option<Range<usize>> {
    let end = if text[at..].starts_with(close) {
        at
    } else {
        next(text, at).min(text.len())
    };
    let start = unmatched(text[..end].char_indices().rev(), open, close)?;
    let behind = start + 1;
    let end = behind + unmatched(text[behind..].char_indices(), close, open)?;
    Some(pair(start, end, around))
}

/// The text between two one-byte delimiters, or including them.
fn pair(open: usize, close: usize, around: bool) -> Range<usize> {
    let mark = usize::from(around);
    open + 1 - mark..close + mark
}
