//! The question about a session that couldn't be opened, as plain data.

use std::path::PathBuf;

use crate::app::sessions::{Refusal, Refused};
use crate::app::tui::answer_delay::AnswerDelay;
use crate::app::tui::answers::Answers;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    pub path: PathBuf,
    pub reason: String,
    pub ways: Vec<Way>,
    pub waits: bool,
    /// Whether there is typed text. Then a digit is part of it.
    pub is_written: bool,
    pub answers: Answers,
    /// Until this is over, Esc was meant for the previous screen.
    pub appeared: AnswerDelay,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Open,
    /// Opens it and switches tiller to the session's folder.
    There(PathBuf),
    Copy,
    ReadOnly,
    /// Opens it once no other program has it open.
    Wait,
}

impl Opening {
    /// The question about a session that couldn't be opened, from `now` on.
    pub fn of(refused: &Refused, now: i64) -> Self {
        let ways = match &refused.why {
            Refusal::InUse { .. } => vec![Way::ReadOnly, Way::Copy, Way::Wait],
            Refusal::OtherFolder(folder) => {
                vec![Way::There(folder.clone()), Way::Copy, Way::ReadOnly]
            }
            Refusal::FolderGone(_) => vec![Way::Copy, Way::ReadOnly],
            Refusal::Denied | Refusal::NoEntry | Refusal::Other => vec![Way::ReadOnly, Way::Copy],
        };
        let label = match refused.label.as_str() {
            "" => "This session".to_owned(),
            label => format!("“{label}”"),
        };
        let reason = format!("{label}: {}", refused.reason);
        let answers = Answers::starting(now, None);
        Self::new(refused.path.clone(), reason, ways, answers, now)
    }

    /// The question when the user sends a message in a read-only session.
    pub fn of_read_only(path: PathBuf, now: i64) -> Self {
        let reason = "This session is open read-only".to_owned();
        let answers = Answers::asked_for(now, None);
        Self::new(path, reason, vec![Way::Copy, Way::Open], answers, now)
    }

    fn new(path: PathBuf, reason: String, ways: Vec<Way>, answers: Answers, now: i64) -> Self {
        Self {
            path,
            reason,
            ways,
            waits: false,
            is_written: false,
            answers,
            appeared: AnswerDelay::starting(now),
        }
    }
}
