//! `/mcp`: lists the MCP servers by file with what they do.

use std::fmt::Write;

use super::{Run, Running, SlashCommand};
use crate::agent::mcp::McpState;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;
use crate::app::humanize::plural;
use crate::app::mcp_files::{ListedServers, McpFiles};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "mcp",
        help: "List your MCP servers",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("mcp"),
        argument: None,
    },
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(async move {
        let listed = McpFiles::new(&host.dirs, &host.cwd).read();
        host.mcp.begin().await;
        host.mcp.settled().await;
        Ok(list(host, &listed))
    })
}

fn list(host: &Host, listed: &[ListedServers]) -> String {
    if listed.is_empty() {
        let file = host.dirs.mcp_file();
        return format!(
            "No MCP servers. They go to {}; tiller also reads those of Claude Code: tiller docs mcp",
            file.display()
        );
    }
    let mut states = host.mcp.states();
    let mut text = String::new();
    for it in listed {
        let path = it.path.strip_prefix(&host.cwd).unwrap_or(&it.path);
        let waits = it.of_project;
        let state = if waits { ", not started" } else { "" };
        let _ = writeln!(text, "{}{state}", path.display());
        for server in &it.file.servers {
            // The first of two servers with one name counts.
            let at = states.iter().position(|(name, _)| *name == server.name);
            let state = match at.filter(|_| !waits).map(|at| states.remove(at).1) {
                Some(state) => said(state),
                None if waits => server.what(),
                None => match server.expanded(|name| std::env::var(name).ok()) {
                    Ok(_) => "not used: another file has a server of this name".to_owned(),
                    Err(variable) => format!("failed: the variable {variable} isn't set"),
                },
            };
            let _ = writeln!(text, "  {}: {state}", server.name);
        }
        for fault in &it.file.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    if listed.iter().any(|it| it.of_project) {
        let _ = write!(
            text,
            "Servers of a project don't start, because the model can change them. To use one, copy its entry to {}",
            host.dirs.mcp_file().display()
        );
    }
    text.trim_end().to_owned()
}

fn said(state: McpState) -> String {
    match state {
        McpState::Idle => "not started".to_owned(),
        McpState::Starting => "starting".to_owned(),
        McpState::Running(count) => format!("running, {}", plural(count as u64, "tool", "tools")),
        McpState::Failed(why) => format!("failed: {why}"),
    }
}
