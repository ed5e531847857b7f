//! Facts about runs: the current one's times, and why the last can be resumed.

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
    /// The budget is spent; resuming raises it to this.
    AtBudget(BudgetLimit),
    Failed,
    /// The program died during it.
    CutOff,
    /// The user stopped it while it waited to retry a model call.
    Stopped,
    /// The user moved the conversation back to something no model has answered.
    Unanswered,
    /// A plan that Enter runs, but not at once: a key pressed as it appears meant something else.
    Planned(AnswerDelay),
    /// Steps without the heading of a plan; the first Enter offers to run them.
    Listed,
}

/// What Enter on the empty prompt runs after a reply in plan mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proposal {
    /// A plan under its heading.
    Plan,
    /// At least two numbered steps.
    Steps,
}
