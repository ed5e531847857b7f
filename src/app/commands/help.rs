//! `/help`: lists the commands. The screen has a popup for it.

use std::fmt::Write as _;

use super::{Run, Running, SlashCommand, all};
use crate::app::action::Action;
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::Help.row(),
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(_: &'a Host, _: &'a str) -> Running<'a> {
    let mut text = "Commands:".to_owned();
    for command in all() {
        let argument = command
            .spec
            .argument
            .map_or(String::new(), |it| format!(" {it}"));
        let name = format!("/{}{argument}", command.name());
        let _ = write!(text, "\n  {name:<20} {}", command.spec.help);
    }
    Box::pin(async move { Ok(text) })
}
