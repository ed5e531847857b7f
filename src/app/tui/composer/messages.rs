//! Text that is sent, and text that comes back: what came back is a message, whatever it begins with, and
//! no draft is lost for either.

use super::browse::Browse;
use super::editor::Composer;

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

    /// Empties the editor; the draft is kept in the history.
    pub fn clear(&mut self) {
        if let Some((draft, is_message)) = self.hidden_draft() {
            self.history.push(&as_typed(draft, is_message));
        }
        self.browse = None;
        let text = self.for_history();
        self.history.push(&text);
        self.draft.set("");
        self.settle();
    }

    /// Takes the text to send it: remembers it in the history and empties the editor. It cannot be
    /// undone; the kill ring stays. Where it was one of the history, the draft is in the editor again.
    pub fn take(&mut self) -> String {
        let text = self.text();
        let remembered = self.for_history();
        self.history.push(&remembered);
        let browse = self.browse.take();
        let is_message = browse.as_ref().is_some_and(|browse| browse.is_message);
        let draft = browse.and_then(Browse::into_draft);
        let keep = self.kills.has_placeholders() || self.draft.placeholders().are_light();
        self.draft.reset(keep || draft.is_some());
        if let Some(draft) = draft {
            self.draft.set(&draft);
            if is_message {
                self.draft.mark_message();
            }
            self.restored = Some(self.draft.revision());
        }
        self.vim_insert();
        self.settle();
        text
    }

    /// Whether the text is the draft that was there before the one that was taken, and nobody has touched it.
    pub fn is_restored(&self) -> bool {
        self.restored == Some(self.draft.revision())
    }

    /// The draft while the history is browsed, and whether it is a message that came back.
    fn hidden_draft(&self) -> Option<(String, bool)> {
        let browse = self.browse.as_ref()?;
        let draft = self.draft.placeholders().expand(browse.draft()?);
        Some((draft, browse.is_message))
    }

    /// What was typed and not sent, and whether it is a message that came back: the draft, also while a
    /// prompt of the history stands in its place.
    pub fn unsent(&self) -> (String, bool) {
        self.hidden_draft()
            .unwrap_or_else(|| (self.text(), self.is_message()))
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
