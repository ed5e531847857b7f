//! `/hooks`: lists the hooks by file, and approves those of the project.

use std::fmt::Write;

use super::{Run, Running, SlashCommand};
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::approval::Standing;
use crate::app::hook_files::{HookFiles, Listed, of_project};
use crate::app::host::Host;
use crate::app::humanize::plural;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "hooks",
        help: "List your hooks, or approve those of the project",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("hooks"),
        argument: Some("[approve]"),
    },
    arguments: &[("approve", "let the hooks of this project run")],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, argument: &'a str) -> Running<'a> {
    Box::pin(async move {
        let files = HookFiles::new(&host.dirs, &host.cwd);
        let listed = files.read();
        let standing = files.standing(&listed, *host.trusted.borrow())?;
        match (argument, standing) {
            ("", _) => Ok(list(host, &listed, standing)),
            ("approve", _) if of_project(&listed).next().is_none() => {
                Err("This project has no hooks".to_owned())
            }
            ("approve", Standing::Untrusted) => {
                Err("You don't trust this project. Trust it first: /trust".to_owned())
            }
            ("approve", _) => {
                files.approve(&listed)?;
                let count = of_project(&listed).count() as u64;
                let hooks = plural(count, "hook", "hooks");
                Ok(format!("Approved: {hooks} of this project, until they change"))
            }
            _ => Err(format!(
                "/hooks has no '{argument}'. Use /hooks, or /hooks approve"
            )),
        }
    })
}

fn list(host: &Host, listed: &[Listed], standing: Standing) -> String {
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
        let state = match standing {
            _ if !it.of_project || it.file.hooks.is_empty() => "",
            Standing::Approved => ", approved",
            Standing::Waiting => ", waiting for your approval",
            Standing::Untrusted => ", off because you don't trust this project",
        };
        let _ = writeln!(text, "{}{state}", path.display());
        if it.file.disables_all {
            text.push_str("  switches all hooks off\n");
        }
        for hook in &it.file.hooks {
            let _ = writeln!(text, "  {}", hook.what());
        }
        for fault in &it.file.faults {
            let _ = writeln!(text, "  not used: {fault}");
        }
    }
    if of_project(listed).next().is_some() {
        text.push_str(match standing {
            Standing::Waiting => {
                "Hooks run outside the sandbox. If you want these to run: /hooks approve"
            }
            Standing::Untrusted => "To trust this project: /trust",
            Standing::Approved => "",
        });
    }
    text.trim_end().to_owned()
}
