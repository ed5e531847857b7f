//! `/permission`: shows or sets the permission mode.

use super::{Run, Running, SlashCommand};
use crate::agent::permission::PermissionMode;
use crate::app::action::Action;
use crate::app::args::of_value;
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: Action::PermissionMode.row(),
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, mode: &'a str) -> Running<'a> {
    Box::pin(async move {
        let Some(mode) = parse(mode)? else {
            return Ok(shown(host.snapshot().await?.permission));
        };
        host.handle.set_permission(mode);
        Ok(changed(mode))
    })
}

/// The mode that the user names, also by another agent's name; `None` without one.
pub(crate) fn parse(mode: &str) -> Result<Option<PermissionMode>, String> {
    if mode.is_empty() {
        return Ok(None);
    }
    mode.parse().map(Some).map_err(|error| {
        let of_others = of_value("--permission", mode);
        let modes = PermissionMode::ALL.map(PermissionMode::name).join(", ");
        let of_others = of_others.map(|it| {
            let instead = it.replace("--permission", "/permission");
            format!("{instead}. The modes: {modes}")
        });
        of_others.unwrap_or_else(|| format!("/permission {error}"))
    })
}

/// Says which mode is in force.
pub(crate) fn shown(mode: PermissionMode) -> String {
    format!("Permission mode {mode}: {}", mode.meaning())
}

/// Says which mode is in force from now on.
pub(crate) fn changed(mode: PermissionMode) -> String {
    format!("{mode}: {}", mode.meaning())
}
