//! What is looked for in the conversation. Plain data.

use crate::app::action::Action;

/// Characters at most.
const MAX_QUERY: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchBar {
    pub query: String,
}

impl SearchBar {
    /// Adds to it as much as there is room for.
    pub fn type_text(&mut self, text: &str) {
        let room = MAX_QUERY.saturating_sub(self.query.chars().count());
        let typed = text.chars().filter(|c| !c.is_control());
        self.query.extend(typed.take(room));
    }

    /// Edits it as a key says. Answers whether it is another one now.
    pub fn press(&mut self, action: Option<Action>, text: Option<char>) -> bool {
        match (action, text) {
            (Some(Action::DeleteBackward), _) => self.query.pop().is_some(),
            (Some(Action::CutWordBackward | Action::CutToSpaceBackward), _) => {
                let kept = self.query.trim_end();
                let end = kept.rfind(' ').map_or(0, |at| at + 1);
                self.query.truncate(end);
                true
            }
            (Some(Action::CutToStart), _) => {
                self.query.clear();
                true
            }
            (None, Some(c)) => {
                self.type_text(c.encode_utf8(&mut [0; 4]));
                true
            }
            _ => false,
        }
    }
}
