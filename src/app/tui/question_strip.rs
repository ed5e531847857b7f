//! The state of the question strip above the editor.

use super::answers::Answers;
use crate::agent::word_list::WordList;
use crate::agent::{PermissionSubject, Question, Subject};
use crate::app::rule_store::RuleScope;

/// Text started within this many milliseconds of a question wasn't meant for it.
const READ_MS: i64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionStrip {
    pub answers: Answers,
    /// The scope of the second answer's rule.
    pub scope: RuleScope,
    /// Whether the user has seen the whole question.
    pub is_shown: bool,
    /// When the question appeared (Unix ms).
    since: i64,
}

/// An answer to a permission question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Once,
    /// Allow it, and add a rule.
    Rule,
    Refuse,
}

/// Texts that mean the first answer to a permission question, and those that give no reason.
const YES: WordList = WordList("y yes ok okay sure allow");
const NO: WordList = WordList("n no nope deny");

/// What a text in the editor answers to a permission question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedAnswer {
    Yes,
    No,
    /// No, and why.
    Reason,
}

impl TypedAnswer {
    pub fn of(text: &str) -> Self {
        let word = text.trim().to_lowercase();
        if YES.contains(&word) {
            Self::Yes
        } else if NO.contains(&word) {
            Self::No
        } else {
            Self::Reason
        }
    }
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
    /// For a question that appears at `now` (Unix ms). Nothing is selected: Enter does nothing.
    pub fn starting(now: i64) -> Self {
        Self {
            answers: Answers::starting(now, None),
            scope: RuleScope::Session,
            is_shown: false,
            since: now,
        }
    }

    /// Whether text started `at` (Unix ms) can be meant for the question.
    pub fn is_before(&self, at: i64) -> bool {
        self.since + READ_MS <= at
    }

    /// The selected answer of a permission question.
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
