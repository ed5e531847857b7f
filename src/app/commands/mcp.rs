//! `/mcp`: lists the MCP servers by file with what they do, and approves those of the project.

use std::fmt::Write;

use super::{Run, Running, SlashCommand};
use crate::agent::mcp::McpState;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::approval::Standing;
use crate::app::host::Host;
use crate::app::humanize::plural;
use crate::app::mcp_files::{ListedServers, McpFiles, servers_of_project};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "mcp",
        help: "List your MCP servers, or approve those of the project",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("mcp"),
        argument: Some("[approve]"),
    },
    arguments: &[("approve", "let the MCP servers of this project start")],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, argument: &'a str) -> Running<'a> {
    Box::pin(async move {
        let files = McpFiles::new(&host.dirs, &host.cwd);
        let listed = files.read();
        let standing = files.standing(&listed, *host.trusted.borrow())?;
        match (argument, standing) {
            ("", _) => {
                host.mcp.begin().await;
                host.mcp.settled().await;
                Ok(list(host, &listed, standing))
            }
            ("approve", _) if servers_of_project(&listed).next().is_none() => {
                Err("This project has no MCP servers".to_owned())
            }
            ("approve", Standing::Untrusted) => {
                Err("You don't trust this project. Trust it first: /trust".to_owned())
            }
            ("approve", _) => {
                files.approve(&listed)?;
                let count = servers_of_project(&listed).count() as u64;
                let servers = plural(count, "MCP server", "MCP servers");
                Ok(format!(
                    "Approved: {servers} of this project, until they change. Your next message starts them"
                ))
            }
            _ => Err(format!(
                "/mcp has no '{argument}'. Use /mcp, or /mcp approve"
            )),
        }
    })
}

fn list(host: &Host, listed: &[ListedServers], standing: Standing) -> String {
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
        let waits = it.of_project && standing != Standing::Approved;
        let state = match standing {
            _ if !it.of_project || it.file.servers.is_empty() => "",
            Standing::Approved => ", approved",
            Standing::Waiting => ", waiting for your approval",
            Standing::Untrusted => ", off because you don't trust this project",
        };
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
    if servers_of_project(listed).next().is_some() {
        text.push_str(match standing {
            Standing::Waiting => {
                "MCP servers run outside the sandbox. If you want these to start: /mcp approve"
            }
            Standing::Untrusted => "To trust this project: /trust",
            Standing::Approved => "",
        });
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
