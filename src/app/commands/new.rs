//! `/new`: starts a new session.

use super::{Run, Running, SlashCommand};
use crate::app::action::Action;
use crate::app::host::Host;
use crate::app::sessions::Choice;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::NewSession.row(),
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(async move {
        let opened = host
            .open(Choice::New)
            .await
            .map_err(|error| error.to_string())?;
        let mut said = vec!["A new session has started".to_owned()];
        said.extend(opened.notices);
        Ok(said.join("\n"))
    })
}
