//! The user's own commands (`!command`) as plain data: what runs, and what the next message takes along.

/// A command of the user that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellRun {
    /// Which of them it is; its cell is called after it.
    pub id: String,
    /// Its command line.
    pub command: String,
    /// Whether the model gets to know of it.
    pub told: bool,
}
