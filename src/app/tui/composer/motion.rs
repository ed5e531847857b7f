//! Caret motions in the text.
//!
//! Positions are byte offsets between two grapheme clusters. A placeholder is a cluster of its own,
//! whatever stands beside it.

use unicode_segmentation::GraphemeCursor;
use unicode_width::UnicodeWidthChar;

use super::placeholders::is_placeholder;

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Sign,
    Placeholder,
}

pub(super) fn next(text: &str, at: usize) -> usize {
    let next = GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0);
    next.ok().flatten().unwrap_or(text.len())
}

pub(super) fn prev(text: &str, at: usize) -> usize {
    let prev = GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0);
    prev.ok().flatten().unwrap_or(0)
}

/// `at`, or the next boundary if it is inside a cluster.
pub(super) fn snap_right(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        at
    } else {
        next(text, at)
    }
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line, before its line feed.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}

pub(super) fn word_left(text: &str, at: usize) -> usize {
    match word_length(text[..at].chars().rev()) {
        0 => prev(text, at),
        length => snap_left(text, at - length),
    }
}

pub(super) fn word_right(text: &str, at: usize) -> usize {
    match word_length(text[at..].chars()) {
        0 => next(text, at),
        length => snap_right(text, at + length),
    }
}

/// The start of the run of non-spaces before `at`.
pub(super) fn space_left(text: &str, at: usize) -> usize {
    let word = text[..at].trim_end();
    let start = word.trim_end_matches(|c: char| !c.is_whitespace()).len();
    snap_left(text, start)
}

fn snap_left(text: &str, at: usize) -> usize {
    if is_boundary(text, at) {
        at
    } else {
        prev(text, at)
    }
}

fn is_boundary(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true)
        .is_boundary(text, 0)
        .unwrap_or(true)
}

/// How many bytes of `chars` are spaces and the word after them.
fn word_length(chars: impl Iterator<Item = char>) -> usize {
    let mut length = 0;
    let mut word = None;
    // Combining marks have no class of their own: their base may come before or after them.
    let mut marks = 0;
    for c in chars {
        let Some(class) = class(c) else {
            marks += c.len_utf8();
            continue;
        };
        match word {
            None if class == Class::Space => {}
            None => word = Some(class),
            Some(Class::Placeholder) => break,
            Some(word) if word == class => {}
            Some(_) => break,
        }
        length += c.len_utf8() + marks;
        marks = 0;
    }
    length
}

fn class(c: char) -> Option<Class> {
    if is_placeholder(c) {
        Some(Class::Placeholder)
    } else if c.is_whitespace() {
        Some(Class::Space)
    } else if c.is_alphanumeric() || c == '_' {
        Some(Class::Word)
    } else if c.width() == Some(0) {
        None
    } else {
        Some(Class::Sign)
    }
}
