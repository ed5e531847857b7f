//! `/hooks`: lists the hooks by file.

use std::fmt::Write;

use super::{Run, Running, SlashCommand};
use crate::agent::hooks::HookRuns;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::hook_files::{HookFiles, Listed};
use crate::app::host::Host;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "hooks",
        help: "List your hooks",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("hooks"),
        argument: None,
    },
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, _: &'a str) -> Running<'a> {
    Box::pin(async move {
        let files = HookFiles::new(&host.dirs, &host.cwd);
        let listed = tokio::task::spawn_blocking(move || files.read());
        let listed = listed.await.map_err(|error| error.to_string())?;
        Ok(list(host, &listed))
    })
}

fn list(host: &Host, listed: &[Listed]) -> String {
    if listed.is_empty() {
        let file = host.dirs.hooks_file();
        return format!(
            "No hooks. They go to {}; tiller also reads those of Claude Code and Codex: \
             tiller docs hooks",
            file.display()
        );
    }
    let mut text = String::new();
    for it in listed {
        let path = it.path.strip_prefix(&host.cwd).unwrap_or(&it.path);
        let state = match (it.of_project, *host.trusted.borrow()) {
            (false, _) => "",
            (true, true) => ", in the sandbox",
            (true, false) => ", off until you trust this project: /trust",
        };
        let _ = writeln!(text, "{}{state}", path.display());
        if it.file.disables_all {
            text.push_str("  switches all hooks off\n");
        }
        for hook in &it.file.hooks {
            let _ = writeln!(text, "  {}", hook.what());
            if let Some(runs) = host.hooks.runs(hook) {
                let _ = writeln!(text, "    {}", how_it_ran(&runs));
            }
        }
        for fault in &it.file.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    text.trim_end().to_owned()
}

fn how_it_ran(runs: &HookRuns) -> String {
    let times = match runs.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let error = runs.last_error.as_ref();
    let error = error.map(|why| format!("; last error: {why}"));
    let error = error.unwrap_or_default();
    format!("ran {times}, last in {} ms{error}", runs.last_ms)
}
