//! The user's own commands (`!command`), as plain data.

use crate::agent::tool::CommandDetails;
use crate::app::attachments::command_block;

#[derive(Clone, Debug, PartialEq)]
pub struct ShellRun {
    /// The id of the command and its cell.
    pub id: String,
    /// Its command line and output so far.
    pub details: CommandDetails,
    /// When it started (Unix ms).
    pub since: i64,
    /// Whether the model gets its output.
    pub told: bool,
}

impl ShellRun {
    /// The block for the model about an unfinished command: its output, and why it's incomplete.
    pub fn unfinished(&self, why: &str) -> Option<String> {
        let output = Some(&self.details.output).filter(|output| self.told && !output.is_empty());
        let failed = format!("failed=\"{why}\"");
        output.map(|output| command_block(&self.details.command, &failed, output))
    }
}
