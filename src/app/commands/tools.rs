//! `/tools`: lists the tools by where they come from.

use std::fmt::Write;

use super::{Run, Running, SlashCommand};
use crate::agent::tools::builtin;
use crate::agent::ToolSettings;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;
use crate::app::tool_files::{ListedTools, ToolFiles};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "tools",
        help: "List the model's tools",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("tools"),
        argument: None,
    },
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(async move {
        let files = ToolFiles::new(&host.dirs, &host.cwd);
        let trusted = *host.trusted.borrow();
        let listed = tokio::task::spawn_blocking(move || files.read(trusted));
        let listed = listed.await.map_err(|error| error.to_string())?;
        Ok(list(host, &listed))
    })
}

fn list(host: &Host, listed: &[ListedTools]) -> String {
    let trusted = *host.trusted.borrow();
    let used = |it: &&ListedTools| trusted || !it.of_project;
    let own: Vec<&str> = (listed.iter().filter(used))
        .flat_map(|it| it.found.tools.iter().map(|tool| &*tool.name))
        .collect();
    let mut text = String::from("Built in\n");
    for tool in builtin(&ToolSettings::default()) {
        let name = tool.spec().name.as_str();
        let why = own.contains(&name).then_some("replaced by yours");
        let is_on = host.tool_set.offers(name, tool.edit_format().is_some());
        let state = state(is_on, why);
        let _ = writeln!(text, "  {name}{state}");
    }
    let mut names: Vec<&str> = Vec::new();
    for it in listed {
        let path = it.path.strip_prefix(&host.cwd).unwrap_or(&it.path);
        let off = !used(&it);
        let state_of_all = if off {
            ", off until you trust this project: /trust"
        } else {
            ""
        };
        let _ = writeln!(text, "{}{state_of_all}", path.display());
        for tool in &it.found.tools {
            let hidden = names.contains(&&*tool.name);
            let why = hidden.then_some("not used: the project has one of this name");
            let state = state(host.tool_set.offers(&tool.name, false), why);
            let declares = tool.declares.name();
            let _ = writeln!(text, "  {} ({declares}){state}", tool.name);
            if !off {
                names.push(&tool.name);
            }
        }
        for fault in &it.found.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    let servers = host.mcp.states();
    if !servers.is_empty() {
        let servers: Vec<String> = servers.into_iter().map(|it| it.name).collect();
        let _ = writeln!(text, "MCP servers (/mcp)\n  {}", servers.join(", "));
    }
    if listed.is_empty() {
        let folder = host.dirs.tools();
        let _ = write!(
            text,
            "Your own tools go to {}: tiller docs tools",
            folder.display()
        );
    }
    text.trim_end().to_owned()
}

/// Why a tool isn't used, if it isn't.
fn state(is_on: bool, why: Option<&str>) -> String {
    let why = why.or((!is_on).then_some("switched off"));
    why.map_or_else(String::new, |why| format!(": {why}"))
}
