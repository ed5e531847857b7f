//! How the program ends: one exit code for each way, and errors that name the way out.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it was asked.
    Done,
    /// The run failed; the message is on stderr.
    Failed,
    /// The command line or a setting makes no sense.
    Usage,
    /// A provider could not be reached, in `tiller auth check`.
    Unreachable,
    /// `--timeout` ran out.
    TimedOut,
    /// SIGHUP.
    HungUp,
    /// SIGINT, in print and JSON mode.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::TimedOut => 124,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Why nothing could be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// What is wrong, with its value, and the way out.
    pub message: String,
    /// Usage or failure.
    pub outcome: Outcome,
}

impl StartError {
    /// The command line or a setting makes no sense (exit code 2).
    pub fn usage(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            outcome: Outcome::Usage,
        }
    }

    /// The surroundings are not fit (exit code 1).
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            outcome: Outcome::Failed,
        }
    }
}
