//! `/name`: names the session.

use super::{Run, Running, SlashCommand};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "name_session",
        help: "Name this session",
        scope: Scope::Everywhere,
        group: Group::Sessions,
        slash: Some("name"),
        argument: Some("NAME"),
    },
    arguments: &[],
    run: Run::Agent(run),
};

fn run<'a>(host: &'a Host, name: &'a str) -> Running<'a> {
    Box::pin(async move {
        let said = host
            .carry_out(|handle| handle.name(name.to_owned()))
            .await?;
        Ok(match (said.as_str(), name) {
            ("", "") => "The session has no name now".to_owned(),
            ("", name) => format!("This session is now {name}"),
            _ => said,
        })
    })
}
