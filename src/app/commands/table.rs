//! The table of the commands.

use super::prompts::PROMPTS;
use super::{COMMANDS, SlashCommand};
use crate::app::action::Action;

/// All commands that every front end runs.
pub fn all() -> impl Iterator<Item = &'static SlashCommand> {
    COMMANDS.iter().chain(PROMPTS).copied()
}

/// The command of a line that starts with `/`, and its argument.
pub fn find(line: &str) -> Option<(&'static SlashCommand, &str)> {
    let (action, argument) = Action::from_slash(line.trim().strip_prefix('/')?)?;
    let mut all = all();
    let command = all.find(|command| command.spec.action == action)?;
    Some((command, argument))
}
