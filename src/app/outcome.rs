//! How the program ends: the table of exit codes, and errors that tell the user what to do.

use std::process::ExitCode;

use crate::llm::os_error::plain;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The run failed; the message is on stderr.
    Failed,
    /// The command line or a setting is wrong.
    Usage,
    /// The run is done, but tiller denied a call because there was no user to ask.
    Refused,
    /// `tiller auth check` couldn't reach a provider.
    Unreachable,
    TimedOut,
    HungUp,
    Interrupted,
    /// The reader of stdout closed it early.
    Cut,
    Terminated,
}

/// Every exit code, its outcomes and its meaning, for `--help` and the reference.
pub const EXIT_CODES: [(u8, &[Outcome], &str); 10] = [
    (0, &[Outcome::Done], "done"),
    (
        1,
        &[Outcome::Failed],
        "the run failed, or tiller couldn't save its session; stderr says why",
    ),
    (
        2,
        &[Outcome::Usage],
        "the command line or a setting is wrong",
    ),
    (
        3,
        &[Outcome::Refused, Outcome::Unreachable],
        "-p, --mode json: tiller denied a call; auth check: no connection",
    ),
    (101, &[], "tiller crashed"),
    (124, &[Outcome::TimedOut], "--timeout ran out"),
    (129, &[Outcome::HungUp], "SIGHUP (the terminal closed)"),
    (130, &[Outcome::Interrupted], "SIGINT (Ctrl+C)"),
    (
        141,
        &[Outcome::Cut],
        "-p, --mode json: the reader of stdout closed it early",
    ),
    (143, &[Outcome::Terminated], "SIGTERM"),
];

/// Formats the table for the end of `--help`.
pub fn exit_codes() -> String {
    let rows = EXIT_CODES.map(|(code, _, meaning)| format!("  {code:<5} {meaning}"));
    format!("Exit codes:\n{}", rows.join("\n"))
}

impl Outcome {
    /// The outcome of another tiller that exited with this code.
    pub fn with_code(code: u8) -> Self {
        let row = EXIT_CODES.iter().find(|(known, ..)| *known == code);
        row.and_then(|(_, ends, _)| ends.first().copied())
            .unwrap_or(Self::Failed)
    }

    pub fn code(self) -> u8 {
        let row = EXIT_CODES.iter().find(|(_, ends, _)| ends.contains(&self));
        row.map_or(1, |(code, ..)| *code)
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

/// Why tiller couldn't start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// The problem, with the value, and what to do.
    pub message: String,
    pub outcome: Outcome,
}

impl StartError {
    /// The command line or a setting is wrong (exit code 2).
    pub fn usage(message: impl ToString) -> Self {
        Self {
            message: plain(message),
            outcome: Outcome::Usage,
        }
    }

    /// `--timeout` ran out before the run began (exit code 124).
    pub fn timed_out(meanwhile: &str) -> Self {
        Self {
            message: format!("--timeout ran out: {meanwhile}"),
            outcome: Outcome::TimedOut,
        }
    }

    /// Something outside tiller failed (exit code 1).
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            message: plain(message.into()),
            outcome: Outcome::Failed,
        }
    }
}
