//! Where motions lead in a text.

use super::super::motion::{line_end, line_start, next, prev, snap_right};
use super::super::placeholders::is_placeholder;
use super::command::{Find, Motion};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Exclusive,
    Inclusive,
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Space,
    Word,
    Sign,
    Paste,
}

/// Where a resolved motion leads and the range it passes; `None` if it can't go there.
pub fn target(
    text: &str,
    from: usize,
    motion: Motion,
    count: Option<usize>,
) -> Option<(usize, Span)> {
    let times = count.unwrap_or(1);
    let repeat = |step: &dyn Fn(usize) -> usize| {
        let mut at = from;
        for _ in 0..times {
            let to = step(at);
            if to == at {
                break;
            }
            at = to;
        }
        at
    };
    Some(match motion {
        Motion::Left => {
            let start = line_start(text, from);
            (repeat(&|at| prev(text, at).max(start)), Span::Exclusive)
        }
        Motion::Right => {
            let end = line_end(text, from);
            (repeat(&|at| next(text, at).min(end)), Span::Exclusive)
        }
        Motion::Word { big } => (repeat(&|at| word(text, at, big)), Span::Exclusive),
        Motion::Back { big } => (repeat(&|at| back(text, at, big)), Span::Exclusive),
        Motion::End { big } => (repeat(&|at| end(text, at, big)), Span::Inclusive),
        Motion::EndBack { big } => (repeat(&|at| end_back(text, at, big)), Span::Inclusive),
        Motion::Bracket => (bracket(text, from)?, Span::Inclusive),
        Motion::Paragraph { forward } => {
            (repeat(&|at| paragraph(text, at, forward)), Span::Exclusive)
        }
        Motion::LineStart => (line_start(text, from), Span::Exclusive),
        Motion::FirstText => (first_text(text, from), Span::Exclusive),
        Motion::LineEnd => (lines_on(text, from, times), Span::Exclusive),
        Motion::Find(find) => {
            let span = if find.forward {
                Span::Inclusive
            } else {
                Span::Exclusive
            };
            (found(text, from, find, times)?, span)
        }
        Motion::First => (line(text, times), Span::Lines),
        Motion::Last => (line(text, count.unwrap_or(usize::MAX)), Span::Lines),
        Motion::Down | Motion::Up => (vertically(text, from, motion, times)?, Span::Lines),
        Motion::FindAgain { .. } | Motion::SearchAgain { .. } => return None,
    })
}

pub fn class(text: &str, at: usize, big: bool) -> Class {
    match text[at..].chars().next() {
        Some(c) if is_placeholder(c) => Class::Paste,
        None => Class::Space,
        Some(c) if c.is_whitespace() => Class::Space,
        Some(c) if big || c.is_alphanumeric() || c == '_' => Class::Word,
        Some(_) => Class::Sign,
    }
}

/// The end of the word that `at` is in: the start of its last character.
pub fn end_of_this(text: &str, mut at: usize, big: bool) -> usize {
    let this = class(text, at, big);
    loop {
        let after = next(text, at);
        if after >= text.len() || class(text, after, big) != this || this == Class::Paste {
            return at;
        }
        at = after;
    }
}

fn start_of_this(text: &str, mut at: usize, big: bool) -> usize {
    let this = class(text, at, big);
    while at > 0 && this != Class::Space && this != Class::Paste {
        let before = prev(text, at);
        if class(text, before, big) != this {
            break;
        }
        at = before;
    }
    at
}

/// The first non-blank of the line.
pub fn first_text(text: &str, at: usize) -> usize {
    let (start, end) = (line_start(text, at), line_end(text, at));
    let line = &text[start..end];
    let blanks = line.len() - line.trim_start().len();
    let first = start + blanks;
    if blanks == line.len() && blanks > 0 {
        prev(text, first)
    } else {
        snap_right(text, first)
    }
}

fn word(text: &str, mut at: usize, big: bool) -> usize {
    let mut moved = class(text, at, big) != Class::Space;
    if moved {
        at = next(text, end_of_this(text, at, big));
    }
    while at < text.len() && class(text, at, big) == Class::Space {
        // An empty line counts as a word.
        if moved && is_empty_line(text, at) {
            break;
        }
        at = next(text, at);
        moved = true;
    }
    at
}

fn back(text: &str, from: usize, big: bool) -> usize {
    let mut at = prev(text, from);
    while at > 0 && class(text, at, big) == Class::Space {
        if is_empty_line(text, at) {
            return at;
        }
        at = prev(text, at);
    }
    start_of_this(text, at, big)
}

fn end(text: &str, from: usize, big: bool) -> usize {
    let mut at = next(text, from);
    while at < text.len() && class(text, at, big) == Class::Space {
        at = next(text, at);
    }
    if at >= text.len() {
        return prev(text, text.len()).max(from);
    }
    end_of_this(text, at, big)
}

fn end_back(text: &str, from: usize, big: bool) -> usize {
    let mut at = start_of_this(text, from, big);
    while at > 0 {
        at = prev(text, at);
        if class(text, at, big) != Class::Space || is_empty_line(text, at) {
            break;
        }
    }
    at
}

/// The bracket that matches the next one on the line.
fn bracket(text: &str, from: usize) -> Option<usize> {
    const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
    let line = &text[from..line_end(text, from)];
    let (at, this, (open, close)) = line.char_indices().find_map(|(at, c)| {
        let pair = PAIRS.iter().find(|pair| c == pair.0 || c == pair.1)?;
        Some((from + at, c, *pair))
    })?;
    if this == close {
        return unmatched(text[..at].char_indices().rev(), open, close);
    }
    let behind = at + 1;
    Some(behind + unmatched(text[behind..].char_indices(), close, open)?)
}

/// The first unmatched `bracket` in `chars`.
pub fn unmatched(
    mut chars: impl Iterator<Item = (usize, char)>,
    bracket: char,
    other: char,
) -> Option<usize> {
    let mut depth = 1;
    let found = chars.find(|(_, c)| {
        depth += i64::from(*c == other) - i64::from(*c == bracket);
        depth == 0
    });
    found.map(|(place, _)| place)
}

/// The end of this many lines.
pub fn lines_on(text: &str, from: usize, count: usize) -> usize {
    let mut end = line_end(text, from);
    for _ in 1..count {
        end = line_end(text, (end + 1).min(text.len()));
    }
    end
}

/// The next empty line after a paragraph, or the previous one; else the end or start of the text.
fn paragraph(text: &str, from: usize, forward: bool) -> usize {
    let mut at = line_start(text, from);
    let mut passed = false;
    loop {
        let is_empty = at == line_end(text, at);
        if is_empty && passed {
            return at;
        }
        passed |= !is_empty;
        at = if forward {
            match line_end(text, at) {
                end if end == text.len() => return end,
                end => end + 1,
            }
        } else {
            match at.checked_sub(1) {
                None => return 0,
                Some(end) => line_start(text, end),
            }
        };
    }
}

/// The next match of `words` or the previous one, wrapping. Capitals make it case-sensitive.
pub fn search(text: &str, from: usize, words: &str, forward: bool) -> Option<usize> {
    let any_case = !words.contains(char::is_uppercase);
    let found = regex::RegexBuilder::new(&regex::escape(words))
        .case_insensitive(any_case)
        .build()
        .ok()?;
    let mut places = found.find_iter(text).map(|found| found.start());
    if !forward {
        let places: Vec<usize> = places.collect();
        let before = places.iter().rfind(|at| **at < from);
        return before.or(places.last()).copied();
    }
    let first = places.next()?;
    let behind = std::iter::once(first).chain(places).find(|at| *at > from);
    Some(behind.unwrap_or(first))
}

fn is_empty_line(text: &str, at: usize) -> bool {
    text[at..].starts_with('\n') && (at == 0 || text[..at].ends_with('\n'))
}

/// The start of a line, counted from 1, or of the last line.
fn line(text: &str, number: usize) -> usize {
    let mut starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    match number {
        0 | 1 => 0,
        number => starts.nth(number - 2).unwrap_or(last),
    }
}

/// The start of the line this many lines away; `None` if there are fewer.
fn vertically(text: &str, from: usize, motion: Motion, times: usize) -> Option<usize> {
    let mut at = line_start(text, from);
    for _ in 0..times {
        at = match motion {
            Motion::Up => line_start(text, at.checked_sub(1)?),
            _ => {
                let end = line_end(text, at);
                if end == text.len() {
                    return None;
                }
                end + 1
            }
        };
    }
    Some(at)
}

fn found(text: &str, from: usize, find: Find, times: usize) -> Option<usize> {
    let (start, end) = (line_start(text, from), line_end(text, from));
    let mut at = from;
    if find.till && find.again {
        let beside = if find.forward {
            next(text, at)
        } else {
            prev(text, at)
        };
        if text[beside..].starts_with(find.c) && beside < end && beside >= start {
            at = beside;
        }
    }
    for _ in 0..times {
        at = if find.forward {
            let behind = next(text, at).min(end);
            behind + text[behind..end].find(find.c)?
        } else {
            start + text[start..at].rfind(find.c)?
        };
    }
    Some(match (find.till, find.forward) {
        (false, _) => at,
        (true, true) => prev(text, at),
        (true, false) => next(text, at),
    })
}
