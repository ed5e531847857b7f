//! How the program ends: one exit code for each way, and errors that name the way out.

use std::process::ExitCode;

/// How the program ends, with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done = 0,
    /// The run failed; the message is on stderr.
    Failed = 1,
    /// The command line or a setting makes no sense.
    Usage = 2,
    /// A provider could not be reached, in `tiller auth check`.
    Unreachable = 3,
    /// `--timeout` ran out.
    TimedOut = 124,
    HungUp = 129,
    /// SIGINT, in print and JSON mode.
    Interrupted = 130,
    Terminated = 143,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}

/// Why nothing could be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// What is wrong, with its value, and the way out.
    pub message: String,
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
