//! `/uncompact`: undoes the last compaction.

use super::{Run, Running, SlashCommand};
use crate::agent::AgentHandle;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "uncompact",
        help: "Undo the last compaction",
        scope: Scope::Everywhere,
        group: Group::Model,
        slash: Some("uncompact"),
        argument: None,
    },
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(host.carry_out(AgentHandle::uncompact))
}
