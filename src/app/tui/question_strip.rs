//! What the user does with the question in the strip above the editor.

use super::answers::Answers;
use crate::agent::{PermissionSubject, Question, Subject};
use crate::app::rule_store::RuleScope;

/// Text that is begun within this many milliseconds of a question was not meant for it.
const READ_MS: i64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionStrip {
    pub answers: Answers,
    /// Where the rule of the second answer holds.
    pub scope: RuleScope,
    /// Whether all of what is asked has been on the screen.
    pub is_shown: bool,
    /// When the question appeared (Unix ms).
    since: i64,
}

/// An answer to a question whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Once,
    /// It runs, and a rule answers from now on.
    Rule,
    Refuse,
}

impl Offer {
    pub fn of(subject: &PermissionSubject) -> &'static [Self] {
        if subject.suggestions.is_empty() {
            &[Self::Once, Self::Refuse]
        } else {
            &[Self::Once, Self::Rule, Self::Refuse]
        }
    }
}

impl QuestionStrip {
    /// For a question that appears `now` (Unix ms). Nothing is selected: Enter alone answers nothing.
    pub fn starting(now: i64) -> Self {
        Self {
            answers: Answers::starting(now, None),
            scope: RuleScope::Session,
            is_shown: false,
            since: now,
        }
    }

    /// Whether text that was begun `at` (Unix ms) can be meant for the question.
    pub fn is_before(&self, at: i64) -> bool {
        self.since + READ_MS <= at
    }

    /// The selected answer, where it is asked whether a call may run.
    pub fn offer(&self, question: &Question) -> Option<Offer> {
        let Subject::Permission(subject) = &question.subject else {
            return None;
        };
        let offers = Offer::of(subject);
        offers.get(self.answers.selected()?).copied()
    }
}

pub fn count(question: &Question) -> usize {
    match &question.subject {
        Subject::Permission(subject) => Offer::of(subject).len(),
        Subject::Choice(subject) => subject.choices.len(),
    }
}
