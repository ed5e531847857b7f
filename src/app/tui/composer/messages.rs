//! Text that is sent, and text that comes back: what came back is a message, whatever it begins with, and
//! no draft is lost for either.

use std::ops::Range;

use super::editor::Composer;
use crate::app::keys::without_keys;

impl Composer {
    /// Replaces everything by a message, whatever it begins with.
    pub fn set_message(&mut self, text: &str) {
        self.set(text);
        self.draft.mark_message();
    }

    /// Whether the text is a message although it may begin like a command: it came back, and its beginning
    /// was not typed again.
    pub fn is_message(&self) -> bool {
        self.draft.is_message() && !self.is_empty()
    }

    /// Whether the text is a command for the shell.
    pub fn is_for_shell(&self) -> bool {
        !self.draft.is_message() && self.draft.text().starts_with('!')
    }

    /// Empties the editor for another session; the draft is kept with the one before.
    pub fn leave(&mut self) {
        self.browse = None;
        self.set("");
    }

    /// Empties the editor; the draft is kept in the history.
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

    /// The byte ranges of the text that are long pastes, in order.
    pub fn pastes(&self) -> Vec<Range<u32>> {
        self.draft.placeholders.expand_parts(self.draft.text()).1
    }

    /// Takes the text to send it: remembers it in the history and empties the editor. It cannot be
    /// undone; the kill ring stays. Where it was one of the history, the draft is in the editor again.
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

    /// Ends browsing, and remembers what prompts were changed to. Gives the draft, and whether it is a
    /// message that came back, where it is not in the editor.
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

    /// The draft while the history is browsed, and whether it is a message that came back.
    fn hidden_draft(&self) -> Option<(String, bool)> {
        let browse = self.browse.as_ref()?;
        let draft = self.draft.placeholders.expand(browse.draft()?);
        Some((draft, browse.is_message))
    }

    /// What was typed and not sent, keys left out, and whether it is a message that came back: the draft,
    /// also while a prompt of the history stands in its place, and what such prompts were changed to.
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

    /// Puts messages that came back (from the queue) before the draft, with a blank line between: together
    /// they are a message. The caret stays where it is in the draft.
    pub fn prepend_message(&mut self, text: &str) {
        self.prepend(text);
        self.draft.mark_message();
    }
}

/// The text as it is typed: a message that begins like a command gets what says that it is none.
fn as_typed(text: String, is_message: bool) -> String {
    let blanks = text.len() - text.trim_start().len();
    match text[blanks..].chars().next() {
        Some('/') if is_message => format!("{}/{}", &text[..blanks], &text[blanks..]),
        Some('!') if is_message && blanks == 0 => format!(" {text}"),
        _ => text,
    }
}
