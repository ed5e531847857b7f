//! Atomic blocks: what stands in the text as one character and is sent as many.
//!
//! A block is a character of the top of the last private use plane, numbered by its place in
//! [`Placeholders`]. Being one character, it cannot be cut by any edit, kill, undo or wrap. Characters
//! of that range that a person really types become blocks of their own, so nothing is mistaken
//! for a block and nothing is lost.

use std::sync::Arc;

/// The first character that stands for a block.
const FIRST: u32 = 0x10_f000;
/// The last one; the two above it are no characters.
const LAST: u32 = 0x10_fffd;

/// A paste of more lines than this is a block.
const MAX_PLAIN_LINES: usize = 10;
/// A paste of more characters than this is a block.
const MAX_PLAIN_CHARS: usize = 1000;

/// What the blocks of a text stand for. Placeholders are never removed while any text may hold one.
#[derive(Clone, Debug, Default)]
pub(super) struct Placeholders(Vec<Block>);

#[derive(Clone, Debug)]
enum Block {
    /// A long paste.
    Paste { label: String, text: Arc<str> },
    /// A character that looks like a block.
    Character(String),
}

/// How a block is shown.
pub(super) enum PlaceholderLabel<'a> {
    /// By a label of ours.
    Label(&'a str),
    /// As it is.
    Text(&'a str),
}

/// Whether a character of the text is a block.
pub(super) fn is_block(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// Whether a character may not stand in the text as it is.
fn needs_care(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => false,
        '\u{2028}' | '\u{2029}' => true,
        c => c.is_control() || is_block(c),
    }
}

impl Placeholders {
    /// Text as it may stand in the editor: line ends are `\n`, of control characters only line
    /// ends and tabs are left, and what looks like a block is made one.
    pub(super) fn clean(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(needs_care) {
            clean.push_str(&rest[..at]);
            let mut chars = rest[at..].chars();
            match chars.next() {
                Some('\r') => {
                    rest = chars.as_str();
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                    clean.push('\n');
                    continue;
                }
                Some('\u{85}' | '\u{2028}' | '\u{2029}') => clean.push('\n'),
                Some(c) if is_block(c) => clean.push(self.add(Block::Character(c.into()))),
                _ => {}
            }
            rest = chars.as_str();
        }
        clean.push_str(rest);
        clean
    }

    /// A paste as it may stand in the editor: as cleaned text, or as a block when it is long.
    pub(super) fn paste(&mut self, text: &str) -> String {
        let clean = self.clean(text);
        let lines = clean.lines().count();
        let chars = clean.chars().count();
        // Without a number left it is text: long, but whole.
        if (lines <= MAX_PLAIN_LINES && chars <= MAX_PLAIN_CHARS) || self.is_full() {
            return clean;
        }
        let number = 1 + self
            .0
            .iter()
            .filter(|block| matches!(block, Block::Paste { .. }))
            .count();
        let label = if lines > MAX_PLAIN_LINES {
            format!("[paste #{number} +{lines} lines]")
        } else {
            format!("[paste #{number} {chars} chars]")
        };
        let text = self.expand(&clean).into();
        self.add(Block::Paste { label, text }).into()
    }

    /// Text of the editor with every block in full.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut full = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(is_block) {
            full.push_str(&rest[..at]);
            let mut chars = rest[at..].chars();
            match chars.next().and_then(|c| self.get(c)) {
                Some(Block::Paste { text, .. }) => full.push_str(text),
                Some(Block::Character(text)) => full.push_str(text),
                // Cannot happen: only `add` makes characters of that range.
                None => {}
            }
            rest = chars.as_str();
        }
        full.push_str(rest);
        full
    }

    /// How a block is shown; `None` for a character that is none.
    pub(super) fn label(&self, c: char) -> Option<PlaceholderLabel<'_>> {
        Some(match self.get(c)? {
            Block::Paste { label, .. } => PlaceholderLabel::Label(label),
            Block::Character(text) => PlaceholderLabel::Text(text),
        })
    }

    fn get(&self, c: char) -> Option<&Block> {
        self.0.get(u32::from(c).checked_sub(FIRST)? as usize)
    }

    fn is_full(&self) -> bool {
        self.0.len() > (LAST - FIRST) as usize
    }

    fn add(&mut self, block: Block) -> char {
        if self.is_full() {
            return char::REPLACEMENT_CHARACTER;
        }
        let number = FIRST + self.0.len() as u32;
        self.0.push(block);
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_pastes_become_blocks() {
        let label = |text: &str| {
            let mut blocks = Placeholders::default();
            let held = blocks.paste(text);
            assert_eq!(blocks.expand(&held), text);
            let mut chars = held.chars();
            match (chars.next().and_then(|c| blocks.label(c)), chars.next()) {
                (Some(PlaceholderLabel::Label(label)), None) => label.to_owned(),
                _ => "text".to_owned(),
            }
        };
        assert_eq!(label(""), "text");
        assert_eq!(label(&"line\n".repeat(10)), "text");
        assert_eq!(label(&"line\n".repeat(11)), "[paste #1 +11 lines]");
        assert_eq!(label(&"x".repeat(1000)), "text");
        assert_eq!(label(&"ä".repeat(1001)), "[paste #1 1001 chars]");
        assert_eq!(label(&"x\u{10f000}".repeat(1001)), "[paste #1 2002 chars]");
    }

    #[test]
    fn text_is_cleaned_of_what_a_terminal_would_obey() {
        let mut blocks = Placeholders::default();
        assert_eq!(blocks.clean("a\r\nb\rc\nd\te"), "a\nb\nc\nd\te");
        assert_eq!(blocks.clean("\x1b[31mred\x07\0\x7f\u{9b}"), "[31mred");
        assert_eq!(blocks.clean("a\u{2028}b\u{85}c"), "a\nb\nc");
    }

    #[test]
    fn what_looks_like_a_block_is_sent_as_typed() {
        let mut blocks = Placeholders::default();
        let typed = "a\u{10f000}b\u{10fffd}c";
        let held = blocks.clean(typed);
        assert_eq!(blocks.expand(&held), typed);
        let typed = "[paste #1 +11 lines]";
        assert_eq!(blocks.clean(typed), typed);
    }

    #[test]
    fn without_numbers_left_a_paste_is_plain_text() {
        let mut blocks = Placeholders::default();
        let long = "x\n".repeat(20);
        for _ in 0..5000 {
            let held = blocks.paste(&long);
            assert_eq!(blocks.expand(&held), long);
        }
    }
}
