//! The state of a check: do the files exist that a message mentions? Input meanwhile waits, because
//! it follows the message. While tiller looks for the file of a command, only the next Enter waits, and what
//! follows it. Other code reads the disk and decides about sending.

use crate::app::action::Action;
use crate::app::tui::terminal::input::InputEvent;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MentionCheck {
    /// The action that sends the message, while the check runs.
    pub action: Option<Action>,
    /// The command as typed, while tiller looks for its file.
    pub looked_for: Option<String>,
    /// The text of the last warning: the next Enter sends it.
    pub warned: Option<String>,
    held: Vec<InputEvent>,
}

impl MentionCheck {
    /// Holds input during the check; returns events that don't wait.
    pub fn hold(&mut self, event: InputEvent) -> Option<InputEvent> {
        let is_typed = matches!(event, InputEvent::Key(_) | InputEvent::Paste(_));
        if self.action.is_none() || !is_typed {
            return Some(event);
        }
        self.held.push(event);
        None
    }

    /// The held input, after the check.
    pub fn release(&mut self) -> Vec<InputEvent> {
        std::mem::take(&mut self.held)
    }
}
