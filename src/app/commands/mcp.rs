//! `/mcp`: lists the MCP servers by file with what they do.

use std::fmt::Write;

use tokio::task::spawn_blocking;

use super::{Run, Running, SlashCommand};
use crate::agent::mcp::{McpState, McpStatus};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;
use crate::app::humanize::plural;
use crate::app::mcp_files::ListedServers;

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
        let files = host.mcp_files.clone();
        let read = spawn_blocking(move || (files.read(), files.trusts_project()));
        let (listed, trusted) = read.await.map_err(|error| error.to_string())?;
        host.mcp.begin().await;
        host.mcp.settled().await;
        Ok(list(host, &listed, trusted))
    })
}

fn list(host: &Host, listed: &[ListedServers], trusted: bool) -> String {
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
        let waits = it.of_project && !trusted;
        let state = if waits { ", not started: /trust the project first" } else { "" };
        let _ = writeln!(text, "{}{state}", path.display());
        for server in &it.file.servers {
            // The first of two servers with one name counts.
            let is_it = |known: &McpStatus| {
                known.name == server.name && known.of_project == it.of_project
            };
            let at = states.iter().position(is_it).filter(|_| !waits);
            let state = match at.map(|at| states.remove(at)) {
                Some(status) => said(status),
                None if waits => server.what(),
                None => match host.mcp_files.usable(server, it.of_project) {
                    Ok(_) => "not used: another file has or switches off this name".to_owned(),
                    Err(why) => format!("not started: {why}"),
                },
            };
            let _ = writeln!(text, "  {}: {state}", server.name);
        }
        for name in &it.file.disabled {
            let _ = writeln!(text, "  {name}: switched off");
        }
        for fault in &it.file.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    text.trim_end().to_owned()
}

fn said(status: McpStatus) -> String {
    let place = match status.sandboxed {
        None => "",
        Some(true) => ", in the sandbox with network",
        Some(false) => ", in the sandbox without network",
    };
    match status.state {
        McpState::Idle => "starts with your next message".to_owned(),
        McpState::Starting => "starting".to_owned(),
        McpState::Running(count) => {
            let tools = plural(count as u64, "tool", "tools");
            format!("running, {tools}{place}")
        }
        McpState::Failed(why) => {
            // What the server said must not look like rows of the list.
            let why: Vec<&str> = why.split_whitespace().collect();
            format!("failed: {}", why.join(" "))
        }
    }
}
