//! `/undo` and `/redo`: take back file changes of a prompt. The screen shows them first.

use tokio::sync::oneshot;

use super::{Run, Running, SlashCommand};
use crate::agent::undo::{Direction, UndoCommand};
use crate::app::action::Action;
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::UndoTurn.row(),
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(go(host, Direction::Undo))
}

/// Undoes or redoes the next turn.
pub(super) async fn go(host: &Host, direction: Direction) -> Result<String, String> {
    let (answer, answered) = oneshot::channel();
    host.handle.undo(UndoCommand::Preview(direction, answer));
    let preview = answered.await.map_err(|_| "The agent has stopped")??;
    let Some(preview) = preview else {
        return Err(nothing(direction).to_owned());
    };
    let turn = preview.turn;
    host.carry_out(|handle| handle.undo(UndoCommand::Go { direction, turn }))
        .await
}

/// Says that there is nothing to do.
pub(crate) fn nothing(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "Nothing to undo; files that git ignores aren't covered",
        Direction::Redo => "Nothing to redo",
    }
}
