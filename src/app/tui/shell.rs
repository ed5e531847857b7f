//! The user's own commands (`!command`) as plain data: what runs, and what the next message takes along.

use crate::agent::tool::CommandDetails;
use crate::app::attachments::command_block;

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

impl ShellRun {
    /// What the model is told of it before its end, if anything: what it wrote, and why there is no more.
    pub fn unfinished(&self, why: &str) -> Option<String> {
        let output = Some(&self.details.output).filter(|output| self.told && !output.is_empty());
        let failed = format!("failed=\"{why}\"");
        output.map(|output| command_block(&self.details.command, &failed, output))
    }
}
