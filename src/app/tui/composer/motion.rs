//! Caret motions.
//!
//! Positions are byte offsets between grapheme clusters. A placeholder is always a separate
//! cluster.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthChar;

use super::placeholders::is_placeholder;

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

/// The end of the line, before the line feed.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}

pub(super) fn word_left(text: &str, at: usize) -> usize {
    let start = match word_length(text[..at].chars().rev()) {
        0 => return prev(text, at),
        length => at - length,
    };
    let run = text[start..at].trim_end();
    let before = match run.split_word_bounds().next_back() {
        Some(word) if is_divided(run) => run.len() - word.len(),
        _ => 0,
    };
    snap_left(text, start + before)
}

pub(super) fn word_right(text: &str, at: usize) -> usize {
    let end = match word_length(text[at..].chars()) {
        0 => return next(text, at),
        length => at + length,
    };
    let run = text[at..end].trim_start();
    let behind = match run.split_word_bounds().next() {
        Some(word) if is_divided(run) => run.len() - word.len(),
        _ => 0,
    };
    snap_right(text, end - behind)
}

/// Whether Unicode's rules find words in these letters: Chinese and Japanese have no spaces. Thai
/// and its neighbors would need a dictionary.
fn is_divided(run: &str) -> bool {
    let needs_dictionary = |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    run.contains(|c| class(c) == Some(Class::Word)) && !run.contains(needs_dictionary)
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

/// The length in bytes of leading spaces and the word after them.
fn word_length(chars: impl Iterator<Item = char>) -> usize {
    let mut length = 0;
    let mut word = None;
    // Combining marks have no class: their base may come before or after them.
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
