//! `/permissions`: lists the permission rules in force, and removes one.

use super::{Run, Running, SlashCommand};
use crate::agent::permission::Rule;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::host::Host;
use crate::app::stored_rules::{StoredRules, listed, named};

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "permissions",
        help: "List the permission rules, or remove one",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("permissions"),
        argument: Some("[remove NUMBER]"),
    },
    arguments: &[],
    run: Run::Host(run),
};

fn run<'a>(host: &'a Host, argument: &'a str) -> Running<'a> {
    Box::pin(async move {
        let mode = host.snapshot().await?.permission;
        let stored = StoredRules {
            dirs: &host.dirs,
            cwd: &host.cwd,
        };
        let rules = in_force(host, stored.read()?).await?;
        let Some((verb, name)) = argument.split_once(' ') else {
            return match argument {
                "" => {
                    let remove = "To remove one: /permissions remove NUMBER\n";
                    let remove = if rules.is_empty() { "" } else { remove };
                    let rules = listed(&rules);
                    Ok(format!(
                        "Permission mode {mode}. Your rules:\n{rules}{remove}To add one, in a shell: \
                         tiller policy allow COMMAND"
                    ))
                }
                _ => Err(usage(argument)),
            };
        };
        if !matches!(verb, "remove" | "rm" | "delete") {
            return Err(usage(argument));
        }
        let rule = named(&rules, name.trim())?;
        let file = stored.remove(rule)?;
        host.handle.remove_permission_rule(rule.clone());
        Ok(format!("Removed from {}: {}", file.display(), rule.what()))
    })
}

/// The rules of the running agent. An answer that is stored too has the place where it is.
async fn in_force(host: &Host, stored: Vec<Rule>) -> Result<Vec<Rule>, String> {
    let rules = host.handle.permission_rules().await;
    let rules = rules.ok_or_else(|| "The agent has stopped".to_owned())?;
    let rules = rules.into_iter().map(|rule| {
        let same = stored.iter().find(|it| it.says_same(&rule));
        same.cloned().unwrap_or(rule)
    });
    let mut rules: Vec<Rule> = rules.collect();
    rules.dedup();
    Ok(rules)
}

fn usage(argument: &str) -> String {
    format!(
        "/permissions has no '{argument}'. Use /permissions, or /permissions remove NUMBER. To \
             add a rule, in a shell: tiller policy allow COMMAND"
    )
}
