//! What the screen knows of runs: since when the one under way does what it does, and why the one
//! before can be gone on with.

use super::answer_delay::AnswerDelay;
use crate::agent::BudgetLimit;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunStats {
    /// When the phase began (Unix ms).
    pub phase_since: i64,
    /// When the run began (Unix ms).
    pub run_since: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resume {
    AtLimit,
    /// Its budget is spent; going on raises it to this.
    AtBudget(BudgetLimit),
    Failed,
    /// The wait for the retry of a model call was stopped.
    Stopped,
    /// The conversation was taken back to something that no model has answered.
    Unanswered,
    /// A plan was made, which can be carried out. What is pressed just as it appears is meant for what
    /// was there before.
    Planned(AnswerDelay),
}
