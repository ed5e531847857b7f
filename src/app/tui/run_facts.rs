//! What the screen knows of runs: figures of the one under way, how the one before ended, and why it can
//! be gone on with.

use super::answer_delay::AnswerDelay;
use crate::agent::{BudgetLimit, RunOutcome};

/// Figures of the run under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunStats {
    /// When the phase began (Unix ms).
    pub phase_since: i64,
    /// When the first token of the answer came (Unix ms).
    pub first_token: Option<i64>,
    /// When its last token so far came (Unix ms).
    pub last_token: i64,
    /// Bytes of the answer so far.
    pub bytes: u64,
    /// When the run began (Unix ms).
    pub since: i64,
    /// Tokens the model has written since then.
    pub output: u64,
    /// How the run before ended; gone when the next one begins.
    pub last: Option<LastRun>,
}

/// What is left to say of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LastRun {
    pub outcome: RunOutcome,
    /// How long it took, in milliseconds.
    pub millis: i64,
    /// Tokens the model has written.
    pub output: u64,
}

/// Why a run can be gone on with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resume {
    /// It ended at the iteration limit.
    AtLimit,
    /// Its budget is spent; going on raises it to this.
    AtBudget(BudgetLimit),
    /// A model call failed, or the wait for its retry was stopped.
    Failed,
    /// The conversation was taken back to something that no model has answered.
    Unanswered,
    /// A plan was made, which can be carried out. What is pressed just as it appears is meant for what
    /// was there before.
    Planned(AnswerDelay),
}
