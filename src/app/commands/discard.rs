//! `/discard`: ends a trial and drops its changes.

use super::{Run, Running, SlashCommand};
use crate::agent::AgentHandle;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "discard_trial",
        help: "Discard the trial and its changes",
        scope: Scope::Everywhere,
        group: Group::Stopping,
        slash: Some("discard"),
        argument: None,
    },
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(host.carry_out(AgentHandle::discard_trial))
}
