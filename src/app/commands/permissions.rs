//! `/permissions`: lists the permission rules in force, adds one or removes one.

use super::{Run, Running, SlashCommand};
use crate::agent::permission::Rule;
use crate::app::action::{Action, ActionSpec, Group, Scope};
use crate::app::args::PolicyCommand;
use crate::app::host::Host;
use crate::app::stored_rules::{StoredRules, listed, named};
use crate::app::typed_rule::add_typed;

pub(super) static COMMAND: SlashCommand = SlashCommand {
    spec: ActionSpec {
        action: Action::Command(&COMMAND),
        name: "permissions",
        help: "List, add or remove permission rules",
        scope: Scope::Everywhere,
        group: Group::Permissions,
        slash: Some("permissions"),
        argument: Some("[allow COMMAND]"),
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
        if argument.is_empty() {
            let remove = "To remove one: /permissions remove NUMBER\n";
            let remove = if rules.is_empty() { "" } else { remove };
            let rules = listed(&rules);
            return Ok(format!(
                "Permission mode {mode}. Your rules:\n{rules}{remove}To add one: \
                 /permissions allow COMMAND (or ask, deny)"
            ));
        }
        let (verb, name) = argument.split_once(' ').unwrap_or((argument, ""));
        if matches!(verb, "allow" | "ask" | "deny") {
            let added = add(host, argument)?;
            // The agent reads the changed file, so that the rule applies at once.
            host.handle.permission_rules().await;
            return Ok(added);
        }
        if !matches!(verb, "remove" | "rm" | "delete") || name.is_empty() {
            return Err(usage(argument));
        }
        let rule = named(&rules, name.trim())?;
        let file = stored.remove(rule)?;
        host.handle.remove_permission_rule(rule.clone());
        Ok(format!("Removed from {}: {}", file.display(), rule.what()))
    })
}

/// Adds a rule, typed as for `tiller policy`.
fn add(host: &Host, argument: &str) -> Result<String, String> {
    let words = argument.split_whitespace();
    let words = words.map(|word| word.trim_matches(['\'', '"']));
    let what = PolicyCommand::typed(words).map_err(|_| usage(argument))?;
    let added = add_typed(&host.dirs, &host.cwd, &what);
    let here = |text: &str| text.replace("tiller policy ", "/permissions ");
    let added = added.map_err(|error| here(&error.message).replace("policy ", "/permissions "))?;
    Ok(here(added.trim_end()))
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
        "'/permissions {argument}' is incomplete or unknown. Use /permissions, /permissions allow COMMAND \
         (or ask, deny), or /permissions remove NUMBER"
    )
}
