//! The editor: text, caret and what can be done to them.

use super::command::EditCommand;
use super::history::History;
use super::layout::{ComposerLayout, Row, Span, SpanKind};

/// The editor of the prompt.
#[derive(Clone, Debug, Default)]
pub struct Composer {
    text: String,
    history: History,
}

impl Composer {
    /// An empty editor.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does one edit or motion. Tells whether anything changed.
    pub fn apply(&mut self, command: EditCommand) -> bool {
        match command {
            EditCommand::Insert(c) => self.text.push(c),
            EditCommand::InsertText(text) | EditCommand::Paste(text) => self.text.push_str(&text),
            EditCommand::NewLine => self.text.push('\n'),
            EditCommand::Set(text) => self.text = text,
            EditCommand::Clear => self.text.clear(),
            EditCommand::Backspace => return self.text.pop().is_some(),
            _ => return false,
        }
        true
    }

    /// Tells how wide the text may be and how many rows may be shown. To be called from `update`
    /// at the start and whenever either changes; does nothing when neither did.
    pub fn resize(&mut self, _width: u16, _max_rows: u16) {}

    /// The visible rows and the caret, for the size last told.
    pub fn layout(&self) -> ComposerLayout {
        ComposerLayout {
            rows: vec![Row {
                spans: vec![Span {
                    kind: SpanKind::Text,
                    text: self.text.clone(),
                }],
            }],
            cursor: (0, 0),
            first_row: 0,
            total_rows: 1,
        }
    }

    /// Puts the caret at a column and row of the visible layout (a mouse click).
    pub fn click(&mut self, _col: u16, _row: u16) {}

    /// The text with every paste in full.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    /// Takes the text to send it: remembers it in the history and empties the editor.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.history.push(&text);
        text
    }

    /// Puts text that came back (a queued message) before the draft, with a blank line between.
    pub fn prepend(&mut self, text: &str) {
        self.text = format!("{text}\n\n{}", self.text);
    }

    /// Whether there is nothing in it, not even a space.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// When the caret stands right behind a backslash: turns it into a new line (`\` Enter).
    pub fn break_at_backslash(&mut self) -> bool {
        false
    }

    /// The word the caret stands in or behind, up to the caret (for `@` and `/` completion).
    pub fn word_before_caret(&self) -> String {
        String::new()
    }

    /// Replaces [`Composer::word_before_caret`] by `text`.
    pub fn replace_word_before_caret(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Earlier prompts.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Earlier prompts, to merge what the file held or to take what it lacks.
    pub fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }
}
