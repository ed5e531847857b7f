//! `/stop`: stops the run, for front ends without an Esc key.

use super::{Run, Running, SlashCommand};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "stop_run",
        help: "Stop the agent (also Esc)",
        scope: Scope::Everywhere,
        group: Group::Stopping,
        slash: Some("stop"),
        argument: None,
    },
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    host.handle.abort();
    Box::pin(async { Ok("Stopped".to_owned()) })
}
