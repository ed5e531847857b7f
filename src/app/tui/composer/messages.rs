//! Sending text and getting it back. Text that came back from the queue is a message, even if it
//! looks like a command. No draft is lost in either case.

use std::ops::Range;

use super::editor::Composer;
use crate::app::keys::without_keys;

impl Composer {
    /// Replaces the whole text by a message, even one that looks like a command.
    pub fn set_message(&mut self, text: &str) {
        self.set(text);
        self.draft.mark_message();
    }

    /// Whether the text is a message even if it looks like a command: it came back unchanged.
    pub fn is_message(&self) -> bool {
        self.draft.is_message() && !self.is_empty()
    }

    /// Whether the text is a shell command.
    pub fn is_for_shell(&self) -> bool {
        !self.draft.is_message() && self.draft.text().starts_with('!')
    }

    /// Clears the editor for another session; the previous session keeps the draft.
    pub fn leave(&mut self) {
        self.browse = None;
        self.set("");
    }

    /// Clears the editor; the history keeps the draft.
    pub fn clear(&mut self) {
        if let Some((draft, is_message)) = self.hidden_draft() {
            self.history.push(&as_typed(draft, is_message));
        }
        self.end_browsing(false);
        let text = self.for_history();
        self.history.push(&text);
        self.draft.set("");
        self.settle();
    }

    /// The byte ranges of long pastes in the text, in order.
    pub fn pastes(&self) -> Vec<Range<u32>> {
        self.draft.placeholders.expand_parts(self.draft.text()).1
    }

    /// Takes the text to send, remembers it in the history and clears the editor. This can't be
    /// undone; the kill ring stays. If the text came from the history, the draft returns to the
    /// editor.
    pub fn take(&mut self) -> String {
        let text = self.text();
        let remembered = self.for_history();
        let draft = self.end_browsing(false);
        self.history.push(&remembered);
        let keep = self.kills.has_placeholders()
            || self.draft.placeholders.weight() < super::placeholders::MAX_KEPT;
        self.draft.reset(keep || draft.is_some());
        if draft.is_some() {
            self.set_draft(draft);
        }
        self.vim_insert();
        self.settle();
        text
    }

    /// Ends browsing, and remembers edited prompts. Returns the draft, and whether it's a message
    /// that came back, unless it is in the editor.
    pub(super) fn end_browsing(&mut self, with_shown: bool) -> Option<(String, bool)> {
        let browse = self.browse.take()?;
        for text in browse.edited(&self.draft, &self.history, with_shown) {
            self.history.push(&text);
        }
        Some((browse.draft()?.to_owned(), browse.is_message))
    }

    pub(super) fn set_draft(&mut self, draft: Option<(String, bool)>) {
        let (text, is_message) = draft.unwrap_or_default();
        self.draft.set(&text);
        if is_message {
            self.draft.mark_message();
        }
    }

    /// The draft while browsing the history, and whether it's a message that came back.
    fn hidden_draft(&self) -> Option<(String, bool)> {
        let browse = self.browse.as_ref()?;
        let draft = self.draft.placeholders.expand(browse.draft()?);
        Some((draft, browse.is_message))
    }

    /// Unsent text without keys, and whether it's a message that came back: the draft, even while a
    /// history prompt is shown, and edited prompts.
    pub fn unsent(&self) -> (String, bool) {
        let browse = self.browse.iter();
        let edited = browse.flat_map(|it| it.edited(&self.draft, &self.history, true));
        let (draft, mut is_message) = self.hidden_draft().unzip();
        let mut texts: Vec<String> = draft.into_iter().chain(edited).collect();
        if texts.is_empty() {
            texts.push(self.text());
            is_message = Some(self.is_message());
        }
        let texts: Vec<String> = texts.into_iter().map(without_keys).collect();
        (texts.join("\n\n"), is_message == Some(true))
    }

    fn for_history(&self) -> String {
        as_typed(self.text(), self.is_message())
    }

    /// Puts messages from the queue before the draft, separated by a blank line; together they are
    /// a message. The caret keeps its place in the draft.
    pub fn prepend_message(&mut self, text: &str) {
        self.prepend(text);
        self.draft.mark_message();
    }
}

/// The text as the user would type it: a message that looks like a command gets an extra slash.
fn as_typed(text: String, is_message: bool) -> String {
    let blanks = text.len() - text.trim_start().len();
    match text[blanks..].chars().next() {
        Some('/') if is_message => format!("{}/{}", &text[..blanks], &text[blanks..]),
        Some('!') if is_message && blanks == 0 => format!(" {text}"),
        _ => text,
    }
}
