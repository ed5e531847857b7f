//! The policy changes: its mode, which the user may change at any time, and the rules, which answers
//! add to.

use super::policy::told;
use super::task::Actor;
use crate::agent::event::AgentEvent;
use crate::agent::permission::{PermissionMode, Rule};

impl Actor {
    /// Calls that begin from now on are judged in this mode; the model is told with the user's next
    /// words.
    pub(super) fn set_permission(&mut self, mode: PermissionMode) {
        self.policy.change(|policy| policy.mode = mode);
        self.conversation.prompts.set_mode(told(mode));
        self.conversation.send(AgentEvent::PermissionMode(mode));
    }

    pub(super) fn add_rules(&mut self, rules: &[Rule]) {
        self.policy.change(|policy| {
            for rule in rules {
                policy.add(rule.clone());
            }
        });
    }
}
