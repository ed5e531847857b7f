//! A question to confirm what the user has just requested, as plain data.

use crate::app::tui::answers::Answers;

/// The question and its answers: yes first, then no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    pub about: ConfirmAbout,
    pub answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmAbout {
    Leave,
    /// Whether to run everything without questions and without a sandbox.
    Full(FullFor),
}

/// How long full mode stays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullFor {
    Session,
    /// In each new session, because it is a setting.
    NewSessions,
}

impl Confirm {
    pub const ANSWERS: usize = 2;

    /// Asks at `now` (Unix ms), with no selected.
    pub fn new(about: ConfirmAbout, now: i64) -> Self {
        Self {
            about,
            answers: Answers::asked_for(now, Some(1)),
        }
    }
}
