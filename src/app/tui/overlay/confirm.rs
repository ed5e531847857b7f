//! A question about what the user has just asked for, as plain data.

use crate::app::tui::answers::Answers;

/// The question and its list of answers: the first one is yes, the second one no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    pub about: ConfirmAbout,
    pub answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmAbout {
    Leave,
    /// Whether everything may run without a question and without a sandbox.
    Full(FullFor),
}

/// How long everything may run so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullFor {
    Session,
    /// In each new session: it is a setting.
    NewSessions,
}

impl Confirm {
    pub const ANSWERS: usize = 2;

    /// Asks `now` (Unix ms); no is selected.
    pub fn new(about: ConfirmAbout, now: i64) -> Self {
        Self {
            about,
            answers: Answers::asked_for(now, Some(1)),
        }
    }
}
