//! The user's own commands (`!command`) as plain data: what runs, and what the next message takes along.

use crate::agent::tool::CommandDetails;

#[derive(Clone, Debug, PartialEq)]
pub struct ShellRun {
    /// Which of them it is; its cell is called after it.
    pub id: String,
    /// Its command line, and what it wrote so far.
    pub details: CommandDetails,
    /// When it began (Unix ms).
    pub since: i64,
    /// Whether the model gets to know of it.
    pub told: bool,
}
