//! The text of a cell for one block of an answer. It owns the text while it streams, then shares it
//! with the message, so that a long text is in memory only once.

use std::ops::Deref;
use std::sync::Arc;

use crate::llm::{Content, Message};

/// Bytes from which a text is shared; a small one isn't worth keeping its message in memory.
const SHARED_FROM: usize = 4 * 1024;

#[derive(Clone, Debug)]
pub enum CellText {
    Own(String),
    /// The index of the block.
    Shared(Arc<Message>, usize),
}

impl CellText {
    pub fn push_str(&mut self, more: &str) {
        match self {
            Self::Own(text) => text.push_str(more),
            Self::Shared(..) => *self = Self::Own([self, more].concat()),
        }
    }

    /// Becomes the text of block `index` of `message`. Returns whether it did more than append.
    pub fn finish(&mut self, message: &Arc<Message>, index: usize) -> bool {
        let whole = text_of(message, index);
        let is_other = !whole.starts_with(&**self);
        *self = if whole.len() >= SHARED_FROM {
            Self::Shared(Arc::clone(message), index)
        } else {
            Self::Own(whole.to_owned())
        };
        is_other
    }
}

impl Default for CellText {
    fn default() -> Self {
        Self::Own(String::new())
    }
}

impl Deref for CellText {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Shared(message, index) => text_of(message, *index),
        }
    }
}

impl PartialEq for CellText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

fn text_of(message: &Message, index: usize) -> &str {
    let Message::Assistant(message) = message else {
        return "";
    };
    match message.content.get(index) {
        Some(Content::Text(text)) => &text.text,
        Some(Content::Thinking(thinking)) => &thinking.thinking,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::AssistantMessage;

    #[test]
    fn shared_and_owned_text_equal_the_message() {
        for length in [0, 10, SHARED_FROM, 3 * SHARED_FROM] {
            let whole = "abc ".repeat(length / 4);
            let message = Arc::new(Message::Assistant(AssistantMessage {
                content: vec![Content::text("another"), Content::text(whole.as_str())],
                ..AssistantMessage::default()
            }));
            let mut text = CellText::default();
            text.push_str(&whole[..whole.len() / 2]);
            assert!(!text.finish(&message, 1));
            assert_eq!(&*text, whole);
            assert_eq!(Arc::strong_count(&message) == 2, length >= SHARED_FROM);
            assert_eq!(text.finish(&message, 0), length >= 10);
            assert_eq!(&*text, "another");
            assert!(text.finish(&message, 2));
            assert_eq!(&*text, "");
            text.finish(&message, 1);
            text.push_str("more");
            assert_eq!(*text, [&whole, "more"].concat());
        }
    }
}
