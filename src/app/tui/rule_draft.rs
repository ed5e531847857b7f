//! A rule that is to answer a question, while the user edits it. It has an editor of its own, in the place
//! of the one for messages: nothing of it becomes a draft, a message or a prompt of the history.

use super::composer::Composer;
use crate::app::rule_store::RuleScope;

/// The state of a rule that is being edited; its text is in the editor.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    pub scope: RuleScope,
    /// The editor for messages, as it was left.
    pub message: Composer,
    /// What is wrong with the text, and the revision of the editor that this is said of.
    pub fault: Option<(String, u64)>,
}
