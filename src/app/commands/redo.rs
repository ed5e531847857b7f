//! `/redo`: brings back what `/undo` took back.

use super::{Run, Running, SlashCommand, undo};
use crate::agent::undo::Direction;
use crate::app::action::Action;
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::RedoTurn.row(),
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(undo::go(host, Direction::Redo))
}
