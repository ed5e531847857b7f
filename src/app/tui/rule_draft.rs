//! A rule being edited as the answer to a question. It has its own editor in place of the prompt
//! editor, so it never becomes a draft, a message or history.

use super::composer::Composer;
use crate::app::rule_store::RuleScope;

/// The state of a rule being edited; the editor has its text.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    pub scope: RuleScope,
    /// The prompt editor, unchanged.
    pub message: Composer,
    /// What's wrong with the text, and the editor revision with that text.
    pub fault: Option<(String, u64)>,
}
