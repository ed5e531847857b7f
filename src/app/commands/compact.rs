//! `/compact`: summarizes the conversation.

use super::{Run, Running, SlashCommand};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "compact",
        help: "Summarize the conversation to free context",
        scope: Scope::Everywhere,
        group: Group::Model,
        slash: Some("compact"),
        argument: Some("TEXT"),
    },
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, focus: &'a str) -> Running<'a> {
    let focus = Some(focus.to_owned()).filter(|focus| !focus.is_empty());
    Box::pin(host.compact(focus))
}
