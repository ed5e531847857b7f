//! The text: a rope, with the boundaries a caret may stand on.
//!
//! Positions are counted in characters. Every boundary is one of grapheme clusters; a block is a
//! cluster of its own, whatever stands beside it.

use std::ops::Range;

use ropey::Rope;
use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete, UnicodeSegmentation};
use unicode_width::UnicodeWidthChar;

use super::placeholders::is_block;

/// The text of the editor.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer(Rope);

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Sign,
    Block,
}

impl Buffer {
    /// Its length in characters.
    pub(super) fn len(&self) -> usize {
        self.0.len_chars()
    }

    /// Part of it.
    pub(super) fn slice(&self, range: Range<usize>) -> String {
        String::from(self.0.slice(range))
    }

    /// All of it.
    pub(super) fn text(&self) -> String {
        String::from(&self.0)
    }

    /// The character at a position.
    pub(super) fn char_at(&self, at: usize) -> Option<char> {
        self.0.get_char(at)
    }

    /// Replaces a part.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str) {
        self.0.remove(range.clone());
        self.0.insert(range.start, text);
    }

    /// The boundary after `at`.
    pub(super) fn next(&self, at: usize) -> usize {
        let len = self.len();
        if at >= len {
            return len;
        }
        if self.0.char(at).is_ascii_graphic() && self.char_at(at + 1).is_none_or(|c| c.is_ascii()) {
            return at + 1;
        }
        let next = self.cluster_end(at);
        let mut inside = self.0.slice(at..next).chars();
        match inside.position(is_block) {
            Some(0) => at + 1,
            Some(before) => at + before,
            None => next,
        }
    }

    /// The boundary before `at`.
    pub(super) fn prev(&self, at: usize) -> usize {
        if at == 0 {
            return 0;
        }
        let prev = self.cluster_start(at);
        let inside: Vec<char> = self.0.slice(prev..at).chars().collect();
        match inside.iter().rposition(|c| is_block(*c)) {
            Some(block) if block + 1 == inside.len() => at - 1,
            Some(block) => prev + block + 1,
            None => prev,
        }
    }

    /// `at`, or the boundary after it where it is none.
    pub(super) fn snap_right(&self, at: usize) -> usize {
        if self.is_boundary(at) {
            at
        } else {
            self.next(at)
        }
    }

    /// `at`, or the boundary before it where it is none.
    pub(super) fn snap_left(&self, at: usize) -> usize {
        if self.is_boundary(at) {
            at
        } else {
            self.prev(at)
        }
    }

    /// The start of the line `at` is in.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.0.line_to_char(self.0.char_to_line(at))
    }

    /// The end of the line `at` is in, before its line end.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let line = self.0.char_to_line(at);
        if line + 1 < self.0.len_lines() {
            self.0.line_to_char(line + 1) - 1
        } else {
            self.len()
        }
    }

    /// The start of the word before `at`.
    pub(super) fn word_left(&self, at: usize) -> usize {
        match word_length(&mut self.0.chars_at(at).reversed()) {
            0 => self.prev(at),
            length => self.snap_left(at - length),
        }
    }

    /// The end of the word after `at`.
    pub(super) fn word_right(&self, at: usize) -> usize {
        match word_length(&mut self.0.chars_at(at)) {
            0 => self.next(at),
            length => self.snap_right(at + length),
        }
    }

    /// Behind the last space before the text before `at`.
    pub(super) fn space_left(&self, at: usize) -> usize {
        let mut chars = self.0.chars_at(at).reversed().peekable();
        let mut length = 0;
        while chars.next_if(|c| c.is_whitespace()).is_some() {
            length += 1;
        }
        length += chars.take_while(|c| !c.is_whitespace()).count();
        self.snap_left(at - length)
    }

    fn is_boundary(&self, at: usize) -> bool {
        if at == 0 || at >= self.len() || is_block(self.0.char(at)) || is_block(self.0.char(at - 1))
        {
            return true;
        }
        let byte = self.0.char_to_byte(at);
        let mut cursor = GraphemeCursor::new(byte, self.0.len_bytes(), true);
        loop {
            let (chunk, start, _, _) = self.0.chunk_at_byte(byte);
            match cursor.is_boundary(chunk, start) {
                Ok(is_boundary) => return is_boundary,
                Err(GraphemeIncomplete::PreContext(end)) => self.give_context(&mut cursor, end),
                // Cannot happen: the chunk holds the position.
                Err(_) => return true,
            }
        }
    }

    fn cluster_end(&self, at: usize) -> usize {
        let byte = self.0.char_to_byte(at);
        let mut cursor = GraphemeCursor::new(byte, self.0.len_bytes(), true);
        let (mut chunk, mut start, _, _) = self.0.chunk_at_byte(byte);
        loop {
            match cursor.next_boundary(chunk, start) {
                Ok(Some(end)) => return self.0.byte_to_char(end),
                Ok(None) => return self.len(),
                Err(GraphemeIncomplete::NextChunk) => {
                    (chunk, start, _, _) = self.0.chunk_at_byte(start + chunk.len());
                }
                Err(GraphemeIncomplete::PreContext(end)) => self.give_context(&mut cursor, end),
                Err(_) => return self.len(),
            }
        }
    }

    fn cluster_start(&self, at: usize) -> usize {
        let byte = self.0.char_to_byte(at);
        let mut cursor = GraphemeCursor::new(byte, self.0.len_bytes(), true);
        let (mut chunk, mut start, _, _) = self.0.chunk_at_byte(byte);
        loop {
            match cursor.prev_boundary(chunk, start) {
                Ok(Some(boundary)) => return self.0.byte_to_char(boundary),
                Ok(None) => return 0,
                Err(GraphemeIncomplete::PrevChunk) => {
                    (chunk, start, _, _) = self.0.chunk_at_byte(start - 1);
                }
                Err(GraphemeIncomplete::PreContext(end)) => self.give_context(&mut cursor, end),
                Err(_) => return 0,
            }
        }
    }

    fn give_context(&self, cursor: &mut GraphemeCursor, end: usize) {
        let (chunk, start, _, _) = self.0.chunk_at_byte(end - 1);
        cursor.provide_context(&chunk[..end - start], start);
    }
}

/// The clusters of a text that begins on a boundary, with their byte offsets; a block is a
/// cluster of its own.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.grapheme_indices(true).flat_map(|(at, cluster)| {
        // The usual cluster is whole; one with a block in it is cut around the block.
        let mut rest = Some(cluster);
        let mut offset = at;
        std::iter::from_fn(move || {
            let cluster = rest.filter(|rest| !rest.is_empty())?;
            let end = match cluster.char_indices().find(|(_, c)| is_block(*c)) {
                Some((0, block)) => block.len_utf8(),
                Some((before, _)) => before,
                None => cluster.len(),
            };
            let (first, others) = cluster.split_at(end);
            rest = Some(others);
            offset += end;
            Some((offset - end, first))
        })
    })
}

/// How many characters of `chars` are spaces and the word behind them.
fn word_length(chars: &mut dyn Iterator<Item = char>) -> usize {
    let mut length = 0;
    let mut word = None;
    // Marks without a class of their own, in case their base comes first or last.
    let mut marks = 0;
    for c in chars {
        let Some(class) = class(c) else {
            marks += 1;
            continue;
        };
        match word {
            None if class == Class::Space => {}
            None => word = Some(class),
            Some(Class::Block) => break,
            Some(word) if word == class => {}
            Some(_) => break,
        }
        length += 1 + marks;
        marks = 0;
    }
    length
}

fn class(c: char) -> Option<Class> {
    if is_block(c) {
        Some(Class::Block)
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
